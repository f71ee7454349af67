/** Evidence of works whose gate `integration` fails, alike unless told otherwise, or passes. */

let ids = 0;
export function event(work: string, type: string, data: object): object {
  ids += 1;
  return { specversion: '1.0', source: 'judgment', id: `e-${ids}`, subject: work, type, data };
}
export const claim = (work: string, lane?: string) =>
  event(work, 'headway.work.claimed', { worker: `agent-${work}`, orchestrator: 'lead', ...(lane && { lane }) });
export const failed = (work: string, key = 'integration > connects') =>
  event(work, 'headway.gate.attempted', {
    gate: 'integration',
    outcome: 'failed',
    exitCode: 1,
    failures: [{ key }],
    diff: { hash: `diff of ${work}` },
  });
export const passed = (work: string) =>
  event(work, 'headway.gate.attempted', {
    gate: 'integration',
    outcome: 'passed',
    exitCode: 0,
    diff: { hash: 'fixed' },
  });

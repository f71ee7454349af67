import type { EvidenceEvent, Sizing } from '@headway/contracts';

/** Facts in few words. Each has its own id, in the order in which they are made. */
let made = 0;
const fact = (type: string, data: unknown, incarnation?: number): EvidenceEvent => {
  made += 1;
  return {
    specversion: '1.0',
    source: 'test',
    id: String(made),
    subject: 'W-1',
    type,
    data,
    ...(incarnation === undefined ? {} : { incarnation }),
  } as EvidenceEvent;
};

type Files = Record<string, string | null>;
export const diffOf = (hash: string | null, files?: Files) =>
  hash === null
    ? null
    : {
        hash,
        ...(files === undefined
          ? {}
          : { files: Object.entries(files).map(([path, content]) => ({ path, hash: content })) }),
      };

interface AttemptOptions {
  readonly gate?: string;
  readonly stage?: 'prep' | 'done' | 'bare';
  readonly files?: Files;
}

export const claimed = (sizing: Sizing = {}, incarnation?: number) =>
  fact('headway.work.claimed', { worker: 'worker', orchestrator: 'lead', sizing }, incarnation);

export const failed = (
  keys: string,
  diff: string | null,
  { gate = 'test', stage = 'bare', files }: AttemptOptions = {},
) =>
  fact('headway.gate.attempted', {
    gate,
    outcome: 'failed',
    stage,
    failures: keys === '' ? [] : keys.split(' ').map((key) => ({ key })),
    diff: diffOf(diff, files),
  });

export const passed = (diff: string | null, { gate = 'test', stage = 'bare', files }: AttemptOptions = {}) =>
  fact('headway.gate.attempted', { gate, outcome: 'passed', stage, diff: diffOf(diff, files) });

export const errored = (gate = 'test', diff: string | null = null) =>
  fact('headway.gate.attempted', { gate, outcome: 'errored', stage: 'bare', diff: diffOf(diff) });

export const committed = (diff?: string) =>
  fact('headway.commit.recorded', { sha: 's', files: [], ...(diff === undefined ? {} : { diff: diffOf(diff) }) });

export const edited = (path: string, before: string | null, after: string | null) =>
  fact('headway.edit.recorded', { path, before, after });

export const checkpoint = (by: 'worker' | 'subagent-stop' | 'harness', diff?: string) =>
  fact('headway.checkpoint.recorded', { by, ...(diff === undefined ? {} : { diff: diffOf(diff) }) });

export const opened = (delegation: string) => fact('headway.delegation.opened', { delegation });
export const completed = (delegation: string) => fact('headway.delegation.completed', { delegation });
export const woken = () => fact('headway.wake.delivered', {});
export const used = () =>
  fact('headway.usage.recorded', { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z' });
export const blocked = () => fact('headway.work.blocked', {});
export const unblocked = () => fact('headway.work.unblocked', { by: 'person' });
export const released = () => fact('headway.work.released', {});
export const done = (by?: 'worker' | 'orchestrator' | 'person' | 'ci', incarnation?: number) =>
  fact('headway.work.done', by === undefined ? {} : { by }, incarnation);
export const conflicting = () =>
  fact('headway.evidence.refused', {
    reason: 'conflict',
    refused: { source: 'test', id: 'x', type: 'headway.gate.attempted' },
    standing: 'a',
    offered: 'b',
  });
export const replied = (signal: string, from: string, intent = 'AGREE', thread = signal) =>
  fact('headway.signal.sent', { signal: 'r', thread, inReplyTo: signal, intent, from, to: [], text: '' });
export const ticked = () => ({ type: 'headway.monitor.ticked' as const });
export const acknowledged = (incarnation = 1) => ({
  type: 'headway.signal.acknowledged' as const,
  signal: 's',
  incarnation,
});

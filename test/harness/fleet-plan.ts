/** A report as a client sends it. */
export interface PlannedEvent {
  readonly specversion: '1.0';
  readonly source: string;
  readonly id: string;
  readonly subject: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a fleet will report: one event of each work a round, and the same events by work. */
export interface FleetPlan {
  readonly rounds: readonly (readonly PlannedEvent[])[];
  readonly ofWork: ReadonlyMap<string, readonly PlannedEvent[]>;
}

/** A fleet of mixed fortunes, the same for the same seed: works that get on, that circle, that go back and forth. */
export function planFleet(size: { readonly works: number; readonly rounds: number; readonly seed: number }): FleetPlan {
  let state = size.seed;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state >> 12) % below;
  };
  const ofWork = new Map<string, PlannedEvent[]>();
  const rounds: PlannedEvent[][] = [];
  for (let round = 0; round < size.rounds; round += 1) {
    const events: PlannedEvent[] = [];
    for (let number = 0; number < size.works; number += 1) {
      const work = `work-${number}`;
      const event: PlannedEvent = {
        specversion: '1.0',
        source: 'fleet',
        id: `${work}/${round}`,
        subject: work,
        ...happening(work, round, random),
      };
      events.push(event);
      ofWork.set(work, [...(ofWork.get(work) ?? []), event]);
    }
    rounds.push(events);
  }
  return { rounds, ofWork };
}

function happening(
  work: string,
  round: number,
  random: (below: number) => number,
): Pick<PlannedEvent, 'type' | 'data'> {
  if (round === 0)
    return {
      type: 'headway.work.claimed',
      data: { worker: `agent-${work}`, orchestrator: 'lead', sizing: { gateAttempts: 20 } },
    };
  const kind = random(10);
  if (kind === 0)
    return {
      type: 'headway.commit.recorded',
      data: { sha: `${work}-${round}`, files: [], diff: { hash: `d${random(6)}` } },
    };
  if (kind === 1)
    return { type: 'headway.checkpoint.recorded', data: { by: 'worker', note: 'on', diff: { hash: `d${random(6)}` } } };
  const gate = kind < 4 ? 'lint' : 'test';
  if (kind === 5)
    return { type: 'headway.gate.attempted', data: { gate, outcome: 'passed', diff: { hash: `d${random(6)}` } } };
  return {
    type: 'headway.gate.attempted',
    data: {
      gate,
      outcome: 'failed',
      stage: 'prep',
      exitCode: 1,
      failures: [{ key: `${work} fails ${random(2)}` }],
      diff: { hash: `d${random(3)}` },
    },
  };
}

import type { EvidenceEvent } from '@headway/contracts';
import type { NewMessage } from '@headway/eventlog';
import { assessed, assessment, evidence, fact, raised, signallerAt, signals, trajectory } from './records.ts';
import type { Rig } from './rig.ts';

/** Events of one message of evidence. */
export const PACKED = 10;

/**
 * A fleet of works that report, are assessed and signalled, the same for the same numbers: each round is one message of
 * evidence of each work, their records, and at times signals. Some of the events are told twice.
 */
export function createTraffic(works: number) {
  let round = 0;
  let last: EvidenceEvent[] = [];
  const event = (work: string, at: number): EvidenceEvent => {
    const id = `${work} ${round} ${at}`;
    if (round === 0 && at === 0) return fact('headway.work.claimed', { worker: `agent of ${work}` }, { id });
    if (at === 1) return fact('headway.checkpoint.recorded', { by: 'worker', note: `note ${id}` }, { id });
    if (at === 2)
      return fact(
        'headway.usage.recorded',
        { costUsd: 0.1, startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z' },
        { id },
      );
    const data = { gate: 'test', outcome: 'failed', stage: 'bare', diff: { hash: `d${round % 3}` } };
    return fact('headway.gate.attempted', data, { id, time: new Date(1.7e12 + round * 1_000 + at).toISOString() });
  };
  return {
    get rounds() {
      return round;
    },
    /** Says the next round; answers with how many events it was. */
    async say(rig: Pick<Rig, 'say'>): Promise<number> {
      let events = 0;
      const names = Array.from({ length: works }, (_, at) => `W-${at}`);
      const said: { work: string; sequence: number; cause: EvidenceEvent }[] = [];
      for (const work of names) {
        const own = Array.from({ length: PACKED }, (_, at) => event(work, at));
        // The last event of the round before, once more: it changes nothing.
        const again = last.filter(({ id }) => id.startsWith(`${work} `));
        const sequence = await rig.say(evidence(work, [...again, ...own]));
        said.push({ work, sequence, cause: own.at(-1) as EvidenceEvent });
        events += own.length + again.length;
      }
      last = said.flatMap(({ cause }, at) => (at % 7 === round % 7 ? [cause] : []));
      const rule = round % 2 === 0 ? 'same-failure' : 'nothing-fired';
      const records = said.map(({ work, sequence, cause }) =>
        trajectory(work, sequence, [assessed(work, cause, assessment(rule, { attempts: round + 1 }))]),
      );
      await rig.say(...records);
      await rig.say(...signalsOf(round, names));
      round += 1;
      return events;
    },
  };
}

function signalsOf(round: number, names: readonly string[]): NewMessage[] {
  const work = names[round % names.length] as string;
  const opened = raised(`s-${round}`, [work]);
  const before = names[(round + names.length - 1) % names.length] as string;
  const withdrawn = {
    type: 'headway.signal.withdrawn' as const,
    id: `withdrawn-s-${round - 1}`,
    data: { signal: `s-${round - 1}`, kind: 'stagnating' as const, works: [before], reason: 'it passed' },
  };
  return [signals(round, round === 0 ? [opened] : [withdrawn, opened]), signallerAt(round)];
}

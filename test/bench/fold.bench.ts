/**
 * What one event costs to fold and assess, for one work with a short and with a long history. Run by Node itself; prints
 * one line of JSON. The events are made before each measurement.
 */
import { defaultPolicy, type EvidenceEvent } from '@headway/contracts';
import { assess, evolve, initialState, type WorkState } from '@headway/trajectory';

const SHORT = 1_000;
const LONG = 1_000_000;
/** Events after each history: many rounds, as the clock of a thread moves in steps of milliseconds. */
const MEASURED = 300_000;
/** Events made at a time: few, so that the collector does not move them about while they are folded. */
const CHUNK = 1_000;

function event(at: number): EvidenceEvent {
  const head = { specversion: '1.0', source: 'bench', id: String(at), subject: 'W-1' } as const;
  if (at % 10 === 3)
    return {
      ...head,
      type: 'headway.usage.recorded',
      data: { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z' },
    };
  if (at % 10 === 7) return { ...head, type: 'headway.checkpoint.recorded', data: { by: 'harness' } };
  const diff = { hash: `diff ${Math.floor(at / 4) % 500_000}` };
  if (at % 10 === 5) return { ...head, type: 'headway.commit.recorded', data: { sha: `s${at}`, files: [], diff } };
  const gate = `gate ${at % 3}`;
  const failing = at % 7 !== 0;
  return {
    ...head,
    type: 'headway.gate.attempted',
    data: {
      gate,
      outcome: failing ? 'failed' : 'passed',
      stage: at % 2 === 0 ? 'prep' : 'bare',
      diff,
      // What fails changes every twenty events or so, as it does for an agent at work.
      ...(failing ? { failures: [{ key: `test ${(at >> 4) % 5}` }, { key: `test ${(at >> 5) % 11}` }] } : {}),
    },
  };
}

/** Microseconds that this thread has run: other load on the machine is not counted. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Processor time of this thread for each event, in nanoseconds, folded from `state` on. */
function measure(state: WorkState, from: number, count: number): { state: WorkState; nanoseconds: number } {
  let current = state;
  let spent = 0;
  for (let start = from; start < from + count; start += CHUNK) {
    const events = Array.from({ length: Math.min(CHUNK, from + count - start) }, (_, at) => event(start + at));
    const before = processorTime();
    for (const one of events) {
      current = evolve(current, one, defaultPolicy);
      assess(current, defaultPolicy);
    }
    spent += processorTime() - before;
  }
  return { state: current, nanoseconds: (spent * 1_000) / count };
}

/** Many short histories, each from its beginning. */
function measureShort(): number {
  let sum = 0;
  for (let from = 0; from < MEASURED; from += SHORT) sum += measure(initialState(), from, SHORT).nanoseconds;
  return (sum * SHORT) / MEASURED;
}

// Both kinds once before, so that all that is measured is compiled.
measure(initialState(), 0, 200_000);
measureShort();
const short = measureShort();
const { state, nanoseconds: whole } = measure(initialState(), 0, LONG);
const { nanoseconds: long } = measure(state, LONG, MEASURED);

console.log(
  JSON.stringify({
    measure: 'fold and assess, one work, one thread',
    nanosecondsAt1000: Math.round(short),
    nanosecondsAfter1000000: Math.round(long),
    ratio: Number((long / short).toFixed(2)),
    eventsPerSecond: Math.round(1e9 / whole),
    stateBytes: Buffer.byteLength(JSON.stringify(state)),
  }),
);

import { defaultPolicy, type SignalEvent } from '@headway/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  acknowledgementsOf,
  type Fact,
  initialSignals,
  initialState,
  judgeEvidence,
  type SignalsState,
  signal,
  type WorkEntry,
  type WorkState,
} from '../src/index.ts';
import { blocked, claimed, done, errored, failed, passed, replied, ticked, unblocked } from './facts.ts';

const of = <Value>(...values: Value[]) => fc.constantFrom(...values);
/** A fact, or an answer to the signal raised last, by somebody. */
type Told = { work: string; fact: Fact } | { work: string; from: string };
const facts: fc.Arbitrary<Fact> = fc.oneof(
  {
    arbitrary: fc.tuple(of('t1', 't2', 'down', ''), of('A', 'B', 'C')).map(([key, diff]) => failed(key, diff)),
    weight: 8,
  },
  { arbitrary: of('down', 'l1').map((key) => failed(key, 'A', { gate: 'lint' })), weight: 4 },
  { arbitrary: of('A', 'B').map((diff) => passed(diff, { stage: 'prep' })), weight: 2 },
  fc.constant(0).map(() => errored()),
  { arbitrary: fc.constant(0).map(() => ticked()), weight: 6 },
  fc.constant(0).map(() => claimed({ gateAttempts: 2 })),
  fc.constant(0).map(() => blocked()),
  fc.constant(0).map(() => unblocked()),
  fc.constant(0).map(() => done()),
);
const told: fc.Arbitrary<Told> = fc.oneof(
  { arbitrary: fc.record({ work: of('A', 'B', 'C'), fact: facts }), weight: 12 },
  { arbitrary: fc.record({ work: of('A', 'B', 'C'), from: of('worker', 'lead', 'stranger') }), weight: 1 },
);

/** Runs a history; each recorded event reaches the signaller `times` times, and `check` sees every state. */
function run(
  history: readonly Told[],
  times: number,
  check: (signals: SignalsState) => void = () => {},
): SignalEvent[] {
  const works = new Map<string, WorkState>(['A', 'B', 'C'].map((work) => [work, initialState()]));
  const all: SignalEvent[] = [];
  let signals = initialSignals();
  const tell = (work: string, fact: Fact): void => {
    const judged = judgeEvidence(works.get(work) ?? initialState(), fact, { tenant: 'T', work }, () => defaultPolicy);
    works.set(work, judged.state);
    for (const event of judged.events) {
      const heard: SignalEvent[] = [];
      for (let time = 0; time < times; time += 1) {
        const step = signal(signals, event, 'T');
        signals = step.state;
        heard.push(...step.events);
        check(signals);
      }
      all.push(...heard);
      for (const { work: member, fact: answer } of acknowledgementsOf(heard)) tell(member, answer);
    }
  };
  for (const [index, one] of history.entries()) {
    const last = all.findLast(({ type }) => type === 'headway.signal.raised');
    if ('fact' in one) tell(one.work, one.fact);
    else if (last !== undefined && 'signal' in last.data)
      // The same identity in every run of the same history: the ids of what follows come from it.
      tell(one.work, { ...replied(last.data.signal, one.from), id: `reply ${index}` });
  }
  return all;
}

const without = (events: readonly SignalEvent[], type: SignalEvent['type']) =>
  events.filter((event) => event.type !== type);

test('at every moment: one signal for a cause, and the open set is what works and groups hold', () => {
  const raised = { stagnating: 0, thrashing: 0, 'awaiting-wake': 0, 'shared-failure': 0 };
  fc.assert(
    fc.property(fc.array(told, { minLength: 20, maxLength: 120 }), (history) => {
      const events = run(history, 1, (signals) => {
        const works = Object.values(signals.works).flatMap((bucket) => Object.values(bucket)) as WorkEntry[];
        const groups = Object.values(signals.groups).flatMap((bucket) => Object.values(bucket));
        const open = Object.values(signals.open).flatMap((bucket) => Object.keys(bucket));
        const shared = groups.filter((group) => group.signal !== null && !group.acknowledged);
        const held = [...works.map((entry) => entry.open?.signal), ...shared.map((group) => group.signal?.signal)];
        expect(held.filter((id) => id !== undefined).toSorted()).toEqual(open.toSorted());
        for (const group of shared) {
          expect(group.members.length).toBeGreaterThanOrEqual(2);
          for (const { open: own } of works)
            if (own?.kind === 'stagnating')
              expect([own.gate, own.signature]).not.toEqual([group.gate, group.signature]);
        }
      });
      const ids = events
        .filter(({ type }) => type === 'headway.signal.raised')
        .map(({ data }) => 'signal' in data && data.signal);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { type, data } of events) if (type === 'headway.signal.raised') raised[data.kind] += 1;
      const closed = events.flatMap(({ type, data }) =>
        type === 'headway.signal.raised' || !('kind' in data) ? [] : [data.signal],
      );
      expect(new Set(closed).size).toBe(closed.length);
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    }),
    { numRuns: 300 },
  );
  for (const [kind, count] of Object.entries(raised)) expect([kind, count > 0]).toEqual([kind, true]);
});

test('an event that reaches the signaller twice opens and closes nothing twice', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 80 }), (history) => {
      const declined = 'headway.reply.declined';
      expect(without(run(history, 2), declined)).toEqual(without(run(history, 1), declined));
    }),
    { numRuns: 200 },
  );
});

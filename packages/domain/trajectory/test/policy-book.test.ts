import {
  defaultPolicy,
  type PolicyNumbers,
  type PolicySet,
  policyNumberNames,
  policyOf,
  policyRanges,
  type TrajectoryEvent,
} from '@headway/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assess, evolve, type Fact, initialState, judgeEvidence, PolicyBook, type WorkState } from '../src/index.ts';
import { claimed, committed, errored, failed, passed, ticked } from './facts.ts';

const change = (
  version: number,
  lane: string | null,
  numbers: Partial<PolicyNumbers> | null,
): Pick<PolicySet, 'data'> => ({
  data: { version, lane, numbers, by: 'ana', why: 'because' },
});
const lane = (name: string): Fact => {
  const fact = claimed() as Extract<Fact, { type: 'headway.work.claimed' }>;
  return { ...fact, data: { ...fact.data, lane: name } };
};

describe('the policies of a tenant', () => {
  test('hold from where they stand, the lane’s own before that of the tenant, and can be taken back', () => {
    const book = new PolicyBook();
    book.take(change(1, null, { sameFailure: 4 }), 10);
    book.take(change(2, 'ui', { circling: 0 }), 20);
    book.take(change(3, 'ui', null), 30);
    expect(book.at('ui', 9)).toBe(defaultPolicy);
    expect(book.at('ui', 10)).toMatchObject({ version: 1, sameFailure: 4, differs: { sameFailure: 4 } });
    expect(book.at('ui', 20)).toMatchObject({ version: 2, sameFailure: 3, circling: 0, differs: { circling: 0 } });
    expect(book.at('api', 25)).toMatchObject({ version: 1 });
    expect(book.at('ui', 30)).toMatchObject({ version: 1 });
    expect(book.version(2)).toMatchObject({ circling: 0 });
    expect(book.version(null)).toBe(defaultPolicy);
  });

  test('a change that is read twice changes nothing', () => {
    const book = new PolicyBook();
    book.take(change(1, null, { sameFailure: 4 }), 10);
    book.take(change(2, null, { sameFailure: 5 }), 20);
    book.take(change(1, null, { sameFailure: 4 }), 10);
    expect(book.at(null, 30)).toMatchObject({ version: 2, sameFailure: 5 });
  });
});

type Entry = { readonly fact: Fact } | { readonly change: Pick<PolicySet, 'data'> };

/** Judges a history from a place on, with the states and policies that a process knows that starts there. */
function judged(history: readonly Entry[], book: PolicyBook, state: WorkState, from: number) {
  const events: TrajectoryEvent[] = [];
  let now = state;
  for (let at = from; at < history.length; at += 1) {
    const entry = history[at] as Entry;
    if ('change' in entry) book.take(entry.change, at + 1);
    else {
      const step = judgeEvidence(now, entry.fact, { tenant: 'T', work: 'W' }, (of) => book.at(of, at + 1));
      now = JSON.parse(JSON.stringify(step.state)) as WorkState;
      events.push(...step.events);
    }
  }
  return { events, state: now };
}

const fact = fc.oneof(
  fc.constantFrom(failed('t1', 'A'), failed('t1', 'B'), failed('t2', 'A'), passed('A'), passed('B', { stage: 'prep' })),
  fc.constantFrom(committed('C'), errored(), ticked() as Fact, lane('ui'), lane('api')),
);
const numbers = fc.record(
  {
    sameFailure: fc.integer({ min: 2, max: 4 }),
    infrastructure: fc.integer({ min: 2, max: 3 }),
    ticksBeforeWake: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);
const history = fc
  .array(fc.oneof({ weight: 5, arbitrary: fact }, fc.tuple(fc.constantFrom(null, 'ui', 'api'), fc.option(numbers))), {
    maxLength: 40,
  })
  .map((steps): Entry[] => {
    let version = 0;
    return steps.map((step) => {
      if (!Array.isArray(step)) return { fact: step };
      version += 1;
      return { change: change(version, step[0], step[1]) };
    });
  });

test('a history with changes of policies is judged in the same way whenever it is read again, from any place', () => {
  fc.assert(
    fc.property(history, fc.nat(40), (entries, cut) => {
      const whole = judged(entries, new PolicyBook(), initialState(), 0);
      const first = judged(entries.slice(0, cut), new PolicyBook(), initialState(), 0);
      // A process that starts again knows every change that the log holds by then, also later ones.
      const book = new PolicyBook();
      for (const [at, entry] of entries.entries()) if ('change' in entry) book.take(entry.change, at + 1);
      const rest = judged(entries, book, first.state, Math.min(cut, entries.length));
      expect([...first.events, ...rest.events]).toEqual(whole.events);
      expect(rest.state).toEqual(whole.state);
    }),
  );
});

describe('every number', () => {
  const folded = (facts: readonly Fact[], given: Partial<PolicyNumbers>) => {
    const policy = policyOf(1, given);
    return assess(
      facts.reduce((state, one) => evolve(state, one, policy), initialState()),
      policy,
    );
  };
  const times = (count: number, make: (at: number) => Fact) => Array.from({ length: count }, (_, at) => make(at));
  const prep = { stage: 'prep' } as const;
  /** What fires the rule of a number at its value, and not one step earlier. */
  const firing: Readonly<Record<keyof PolicyNumbers, readonly [rule: string, facts: (value: number) => Fact[]]>> = {
    sameFailure: ['same-failure', (value) => times(value, () => failed('t1', 'A'))],
    noMovement: ['no-movement', (value) => times(value, (at) => failed(`t${at}`, 'A', prep))],
    circling: ['circling', (value) => times(value, (at) => failed('t1', `d${at}`))],
    circlingDiffs: [
      'circling',
      (value) => [...times(6, () => failed('t1', 'd1')), ...times(value - 1, (at) => failed('t1', `e${at}`))],
    ],
    returns: [
      'revert',
      (value) => {
        const states = times(value, (at) => failed(`t${at}`, `r${at}`));
        return [...states, failed('elsewhere', 'x'), ...times(value, (at) => failed(`t${at}`, `r${at}`))];
      },
    ],
    infrastructure: ['infrastructure', (value) => times(value, () => errored())],
    overrunSinceCheckpoint: [
      'overrun',
      (value) => [claimed({ gateAttempts: 1 }), ...times(value + 1, (at) => failed(`t${at}`, `d${at}`))],
    ],
    overrunInAll: [
      'overrun',
      (value) => [claimed({ gateAttempts: 1 }), ...times(value + 1, (at) => failed(`t${at}`, `d${at}`))],
    ],
    ticksBeforeWake: ['passed-prep', (value) => [passed('A', prep), ...times(value, () => ticked())]],
  };
  test.each(policyNumberNames.filter((name) => name !== 'ticksBeforeWake'))(
    '%s decides at its smallest and at its largest value, and not one step earlier',
    (name) => {
      const [least, most] = policyRanges[name];
      const smallest = name === 'circling' ? 2 : name === 'returns' ? 1 : least;
      for (const value of new Set([Math.max(smallest, least), Math.min(most, 100)])) {
        const off = {
          sameFailure: 100,
          noMovement: 100,
          circling: 0,
          overrunSinceCheckpoint: 1_000,
          overrunInAll: 1_000,
        };
        const of = { ...off, ...(name === 'circlingDiffs' ? { circling: 6 } : {}), [name]: value };
        const [rule, make] = firing[name];
        const facts = make(value);
        if (name === 'circlingDiffs' && value === 1) continue;
        expect(folded(facts, of).rule, `${name} ${value}`).toBe(rule);
        expect(folded(facts.slice(0, -1), of).rule, `${name} ${value}, one step earlier`).not.toBe(rule);
      }
    },
  );
  test('ticksBeforeWake decides when a pause raises its signal', () => {
    for (const value of [1, 2, 1_440]) {
      const facts = firing.ticksBeforeWake[1](value);
      expect(folded(facts, { ticksBeforeWake: value }).raises).toBe(true);
      expect(folded(facts.slice(0, -1), { ticksBeforeWake: value }).raises).toBe(false);
    }
  });
});

import { defaultPolicy, type RuleId } from '@headway/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assess,
  createClassification,
  evolve,
  type Fact,
  firingRules,
  initialState,
  STATE_BYTES,
  type WorkState,
} from '../src/index.ts';
import {
  acknowledged,
  blocked,
  checkpoint,
  claimed,
  committed,
  completed,
  conflicting,
  done,
  edited,
  errored,
  failed,
  opened,
  passed,
  released,
  ticked,
  unblocked,
  used,
  woken,
} from './facts.ts';

const of = <Value>(...values: Value[]) => fc.constantFrom(...values);
const diff = of<string | null>('A', 'B', 'C', 'D', null);
const options = fc.record({
  gate: of('test', 'lint'),
  stage: of<'prep' | 'done' | 'bare'>('prep', 'prep', 'bare', 'done'),
});
const files = fc.option(fc.dictionary(of('a', 'b'), of('1', '2'), { maxKeys: 2 }), { nil: undefined });
const attempts = fc.oneof(
  fc
    .tuple(of('t1', 't1', 't2', 't1 t2', 't1 t2 t3', ''), diff, options, files)
    .map(([keys, at, rest, listed]) => failed(keys, at, listed === undefined ? rest : { ...rest, files: listed })),
  fc.tuple(diff, options).map(([at, rest]) => passed(at, rest)),
  fc.tuple(of('test', 'lint'), diff).map(([gate, at]) => errored(gate, at)),
);
const others = fc.oneof(
  of('A', 'B', 'E').map((at) => committed(at)),
  fc
    .tuple(of<'worker' | 'subagent-stop' | 'harness'>('worker', 'subagent-stop', 'harness'), of('A', 'B', undefined))
    .map(([by, at]) => checkpoint(by, at)),
  fc.tuple(of('a', 'b'), of('0', '1', '2'), of('0', '1', '2')).map(([path, from, to]) => edited(path, from, to)),
  of('c1', 'c2').map((id) => opened(id)),
  of('c1', 'c2').map((id) => completed(id)),
  fc.constant(0).map(() => used()),
  fc.constant(0).map(() => woken()),
);
const lifecycle = fc.oneof(
  of(1, 2, undefined).map((incarnation) => claimed({ gateAttempts: 2, commits: 2 }, incarnation)),
  of<'worker' | 'ci' | undefined>('worker', 'ci', undefined).map((by) => done(by)),
  fc.constant(0).map(() => blocked()),
  fc.constant(0).map(() => unblocked()),
  fc.constant(0).map(() => released()),
  fc.constant(0).map(() => conflicting()),
  fc.integer({ min: 0, max: 2 }).map((incarnation) => acknowledged(incarnation)),
);
const facts = fc.array(
  fc.oneof(
    { arbitrary: attempts, weight: 8 },
    { arbitrary: others, weight: 3 },
    { arbitrary: lifecycle, weight: 1 },
    fc.constant(0).map(() => ticked()),
  ) as fc.Arbitrary<Fact>,
  { maxLength: 60 },
);

const folded = (events: readonly Fact[], from: WorkState = initialState()): WorkState =>
  events.reduce((state, fact) => evolve(state, fact, defaultPolicy), from);

/** Freezes a state to its ends, so that a fold that changes what it was given throws. */
function frozen<Value>(value: Value): Value {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

describe('for any history', () => {
  test('folding goes on from the state as JSON, at any point, and never changes what it was given', () => {
    fc.assert(
      fc.property(facts, (events) => {
        let state = initialState();
        for (const fact of events) state = JSON.parse(JSON.stringify(evolve(frozen(state), fact, defaultPolicy)));
        expect(state).toEqual(folded(events));
        expect(assess(state, defaultPolicy)).toEqual(assess(folded(events), defaultPolicy));
        expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(STATE_BYTES);
      }),
      { numRuns: 300 },
    );
  });

  test('an attempt never changes the phase, unless it confirms a claimed done or opens an incarnation', () => {
    fc.assert(
      fc.property(facts, attempts, (events, attempt) => {
        const before = folded(events);
        const phases = [before, evolve(before, attempt)].map((state) => assess(state, defaultPolicy).phase);
        const { stage, outcome } = attempt.data as { stage: string; outcome: string };
        if (phases[0] === 'done-claimed' && stage === 'done' && outcome === 'passed') return;
        // An edge of "on that diff state": where none was known at `done`, the first one observed is taken for it.
        if (phases[0] === 'done-claimed' && before.doneAt === -1) return;
        expect(phases[1]).toBe(phases[0]);
      }),
      { numRuns: 500 },
    );
  });

  test('only an active work raises a signal, and time and chatter alone never escalate', () => {
    fc.assert(
      fc.property(facts, (events) => {
        const state = folded(events);
        const assessment = assess(state, defaultPolicy);
        if (assessment.raises) expect(assessment.active).toBe(true);
        const later = assess(folded([used(), ticked(), used(), ticked(), ticked()], state), defaultPolicy);
        if (later.class !== 'awaiting-wake' && state.seen) expect(later).toEqual(assessment);
      }),
      { numRuns: 300 },
    );
  });

  test('an acknowledgement silences it until there is fresh evidence', () => {
    fc.assert(
      fc.property(facts, (events) => {
        const before = folded(events);
        const after = folded([acknowledged(before.incarnation)], before);
        expect(assess(after, defaultPolicy)).toEqual({ ...assess(before, defaultPolicy), raises: false });
        expect(assess(folded([ticked(), ticked(), used()], after), defaultPolicy).raises).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test('an event told twice changes nothing', () => {
    const raw = facts.map((events) =>
      events.filter(({ type }) => type !== 'headway.evidence.refused' && type !== 'headway.signal.acknowledged'),
    );
    fc.assert(
      fc.property(raw, fc.array(fc.nat()), (events, again) => {
        const [once, twice] = [createClassification(), createClassification()];
        for (const [at, fact] of events.entries()) {
          const event = { source: 's', id: `${at}`, ...fact };
          once.push(event, { defaults: true });
          twice.push(event, { defaults: true });
          const earlier = events[(again[at % Math.max(again.length, 1)] ?? 0) % (at + 1)] ?? fact;
          const id = events.indexOf(earlier);
          expect(twice.push({ source: 's', id: `${id}`, ...earlier }, { defaults: true }).kind).toBe('duplicate');
        }
        expect(twice.works()).toEqual(once.works());
        expect(twice.shared()).toEqual(once.shared());
      }),
      { numRuns: 200 },
    );
  });
});

/** Rules that accuse a work or raise a signal. */
const accusing: readonly RuleId[] = [
  'revert',
  'same-failure',
  'no-movement',
  'circling',
  'flaky',
  'overrun',
  'passed-prep',
  'subagent-stop',
  'delegation-done',
];

describe('forgetting', () => {
  /** What a reader with endless memory would say of returns to whole diff states, in the simplest way. */
  function returnsOf(path: readonly { diff: string; key: string }[]): number {
    const left = new Set<string>(['']);
    const known = new Set<string>();
    const returned = new Set<string>();
    let at = '';
    for (const { diff: state, key } of path) {
      if (state !== at && left.has(state) && known.has(key)) returned.add(state);
      left.add(at);
      at = state;
      known.add(key);
    }
    return returned.size;
  }

  test('hundreds of states and failures: revert fires only where it would with endless memory', () => {
    const walk = fc.array(
      fc.record({ diff: fc.nat(120).map((at) => `d${at}`), key: fc.nat(90).map((at) => `k${at}`) }),
      { minLength: 100, maxLength: 400 },
    );
    let fired = 0;
    fc.assert(
      fc.property(walk, (path) => {
        let state = folded([claimed()]);
        for (const [at, { diff: hash, key }] of path.entries()) {
          state = evolve(state, failed(key, hash));
          if (!firingRules(state, defaultPolicy).includes('revert')) continue;
          fired += 1;
          expect(returnsOf(path.slice(0, at + 1))).toBeGreaterThanOrEqual(2);
        }
      }),
      { numRuns: 30 },
    );
    expect(fired).toBeGreaterThan(0);
  });

  test('filling every memory in between never makes a rule fire that did not without it', () => {
    const noise = (): Fact[] => Array.from({ length: 70 }, (_, at) => committed(`noise ${at}`));
    fc.assert(
      fc.property(fc.array(attempts, { maxLength: 20 }), fc.nat(20), (events, cut) => {
        // With commits that are forgotten again, each state is left as it would be by one commit only.
        const small = folded([...events.slice(0, cut), committed('noise 69'), ...events.slice(cut)]);
        const large = folded([...events.slice(0, cut), ...noise(), ...events.slice(cut)]);
        const allowed = new Set(firingRules(small, defaultPolicy));
        for (const rule of firingRules(large, defaultPolicy))
          if (accusing.includes(rule)) expect(allowed).toContain(rule);
      }),
      { numRuns: 200 },
    );
  });
});

import { defaultPolicy, type Policy } from '@headway/contracts';
import { describe, expect, test } from 'vitest';
import { assess, evolve, type Fact, firingRules, initialState, type WorkState } from '../src/index.ts';
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

const folded = (facts: readonly Fact[], policy: Policy = defaultPolicy): WorkState =>
  facts.reduce((state, fact) => evolve(state, fact, policy), initialState());
const judged = (facts: readonly Fact[], policy: Policy = defaultPolicy) => assess(folded(facts, policy), policy);
const ruleOf = (...facts: readonly Fact[]) => judged(facts).rule;
const times = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const prep = { stage: 'prep' } as const;
const saved = (at: number) => [checkpoint('worker', `d${at}`), failed(`t${at}`, `d${at}`)];

describe('each rule fires, and not one step earlier', () => {
  const firing: readonly (readonly [string, readonly Fact[], string])[] = [
    ['conflict', [failed('t1', 'A'), conflicting()], 'nothing-fired'],
    ['conflict', [passed('A'), done(), failed('t1', 'B')], 'pass-stands'],
    ['conflict', [passed('A'), done(), committed('B')], 'pass-stands'],
    ['conflict', [passed('A'), done(), edited('a', '1', '2')], 'pass-stands'],
    ['conflict', [claimed(), passed('A'), done(), claimed({}, 1)], 'pass-stands'],
    ['revert', [failed('t1', 'A'), failed('t2', 'B'), failed('t1', 'A'), failed('t2', 'B')], 'nothing-fired'],
    [
      'revert',
      [passed('A', { gate: 'x' }), failed('t1', 'B'), checkpoint('worker', 'A'), failed('t1', 'A'), failed('t1', 'B')],
      'pass-stands',
    ],
    ['same-failure', times(3, () => failed('t1', 'A')), 'nothing-fired'],
    ['no-movement', times(5, (at) => failed(`t${at}`, 'A', prep)), 'nothing-fired'],
    ['circling', times(6, (at) => failed('t1', `d${at}`)), 'nothing-fired'],
    ['circling', times(6, (at) => failed('t1', at < 2 ? 'A' : `d${at}`)), 'nothing-fired'],
    ['flaky', [failed('t1', 'A'), passed('A'), failed('t1', 'A')], 'pass-stands'],
    ['infrastructure', times(3, (at) => errored(`gate ${at}`)), 'no-evidence'],
    ['overrun', [claimed({ gateAttempts: 1 }), ...times(3, (at) => failed(`t${at}`, `d${at}`))], 'nothing-fired'],
    ['overrun', [claimed({ toolCalls: 6 }), ...times(5, (at) => failed(`t${at}`, `d${at}`))], 'nothing-fired'],
    ['overrun', [claimed({ files: 5 }), ...times(3, (at) => committed(`d${at}`))], 'nothing-fired'],
    ['overrun', [claimed({ gateAttempts: 1 }), ...times(6, saved).flat()], 'nothing-fired'],
    ['passed-prep', [failed('t1', 'A'), passed('B', prep)], 'nothing-fired'],
    ['subagent-stop', [failed('t1', 'A'), checkpoint('subagent-stop')], 'nothing-fired'],
    ['delegation-done', [opened('c1'), completed('c1')], 'no-evidence'],
    ['pass-stands', [failed('t1', 'A'), passed('B')], 'nothing-fired'],
    ['set-shrank', [failed('t1 t2', 'A'), failed('t1', 'B')], 'nothing-fired'],
    ['diff-unobservable', times(3, () => failed('t1', null)), 'nothing-fired'],
    ['diff-unobservable', times(5, (at) => failed(`t${at}`, null, prep)), 'nothing-fired'],
    ['diff-unobservable', ['A', null, 'B', null, 'C', null].map((diff) => failed('t1', diff)), 'nothing-fired'],
    ['nothing-fired', [claimed(), committed()], 'no-evidence'],
  ];
  test.each(firing)('%s (%#)', (rule, facts, before) => {
    expect(ruleOf(...facts)).toBe(rule);
    expect(ruleOf(...facts.slice(0, -1))).toBe(before);
  });
});

describe('conflict', () => {
  test('the next verdict ends the doubt, an errored attempt does not', () => {
    expect(ruleOf(failed('t1', 'A'), conflicting(), errored())).toBe('conflict');
    expect(ruleOf(failed('t1', 'A'), conflicting(), failed('t2', 'A'))).toBe('nothing-fired');
  });
  test('late reports on the same state, usage, checkpoints and delegations after done are normal', () => {
    const finished = [failed('t1', 'A'), passed('B'), done()];
    const late = [
      passed('B', { gate: 'ci' }),
      committed('B'),
      committed(),
      used(),
      checkpoint('worker', 'C'),
      opened('x'),
    ];
    expect(ruleOf(...finished, ...late)).toBe('pass-stands');
  });
  test('an errored attempt elsewhere contradicts nothing: its diff is not looked at', () => {
    expect(ruleOf(passed('A'), done(), errored('ci', 'B'))).toBe('pass-stands');
  });
  test('where no state was known at done, the first one observed is taken for it', () => {
    expect(ruleOf(passed(null), done(), passed('A', { gate: 'ci' }))).toBe('pass-stands');
    expect(ruleOf(passed(null), done(), passed('A', { gate: 'ci' }), passed('B', { gate: 'ci' }))).toBe('conflict');
  });
  test('a late edit to the content that is known already contradicts nothing', () => {
    expect(ruleOf(passed('A', { files: { a: '2' } }), done(), edited('a', '1', '2'))).toBe('pass-stands');
  });
});

describe('revert', () => {
  const fight = [failed('t1', 'A'), failed('t2', 'B'), failed('t1', 'A'), failed('t2', 'B')];
  test('coming back to one state again and again is no fight', () => {
    expect(ruleOf(...['A', 'B', 'A', 'C', 'A', 'D', 'A'].map((diff, at) => failed(`t${at % 2}`, diff)))).not.toBe(
      'revert',
    );
  });
  test('a return with a failure that is new there does not count', () => {
    expect(ruleOf(failed('t1', 'A'), failed('t2', 'B'), failed('t1', 'A'), failed('t3', 'B'), failed('t2', 'B'))).toBe(
      'nothing-fired',
    );
  });
  test('only the first failed attempt after the return decides, and an errored one is none', () => {
    expect(ruleOf(...fight.slice(0, 3), errored('test', 'B'), failed('t2', 'B'))).toBe('revert');
  });
  test('an unobserved attempt neither counts nor interrupts', () => {
    expect(ruleOf(...fight.slice(0, 3), failed('t2', null), failed('t2', 'B'))).toBe('revert');
    expect(ruleOf(...fight.slice(0, 2), failed('t1', null), failed('t2', null))).toBe('nothing-fired');
  });
  test('the unchanged tree is the first state of an incarnation', () => {
    const clean = { files: {} };
    expect(ruleOf(failed('t1', 'A'), failed('t1', 'anything', clean), failed('t1', 'A'))).toBe('revert');
  });
  test('one file that goes back and forth counts, whatever the other files do', () => {
    const file = (at: number, content: string) => failed('t1', `d${at}`, { files: { a: content, [`b${at}`]: 'x' } });
    expect(ruleOf(file(0, '1'), file(1, '2'), file(2, '1'))).toBe('nothing-fired');
    expect(ruleOf(file(0, '1'), file(1, '2'), file(2, '1'), file(3, '2'))).toBe('revert');
  });
  test('a file that is no longer listed is in its base state', () => {
    const listed = (at: number, listed: boolean) =>
      failed('t1', `d${at}`, { files: { ...(listed ? { a: '1' } : {}), [`b${at}`]: 'x' } });
    expect(ruleOf(listed(0, true), listed(1, false), listed(2, true))).toBe('revert');
  });
  test('edits move a file too, and their first content is the base one', () => {
    const facts = [
      edited('a', '0', '1'),
      failed('t1', 'd1'),
      edited('a', '1', '0'),
      failed('t1', 'd2'),
      edited('a', '0', '1'),
      failed('t1', 'd3'),
    ];
    expect(ruleOf(...facts.slice(0, -1))).toBe('nothing-fired');
    expect(ruleOf(...facts)).toBe('revert');
  });
  test('a debug print in and out, twice, is no fight', () => {
    const facts = ['1', '0', '2', '0'].flatMap((after, at, all) => [
      edited('a', all[at - 1] ?? '0', after),
      failed('t1', `d${at}`),
    ]);
    expect(ruleOf(...facts)).not.toBe('revert');
  });
  test('not while every gate passes', () => {
    expect(ruleOf(...fight, passed('C'))).toBe('pass-stands');
    expect(ruleOf(...fight, passed('C'), failed('l1', 'C', { gate: 'lint' }))).toBe('revert');
  });
});

describe('runs of one gate', () => {
  test('other gates, errored attempts, edits and usage neither count nor reset', () => {
    const between = [passed('A', { gate: 'format' }), errored('test', 'B'), edited('a', '1', '2'), used(), woken()];
    expect(ruleOf(failed('t1', 'A'), ...between, failed('t1', 'A'), ...between, failed('t1', 'A'))).toBe(
      'same-failure',
    );
  });
  test('a pass resets it', () => {
    expect(ruleOf(failed('t1', 'A'), failed('t1', 'A'), passed('A'), failed('t1', 'A'), failed('t1', 'A'))).toBe(
      'flaky',
    );
  });
  test('a null set ends it and equals nothing, itself included', () => {
    expect(ruleOf(failed('t1', 'A'), failed('t1', 'A'), failed('', 'A'), failed('t1', 'A'), failed('t1', 'A'))).toBe(
      'nothing-fired',
    );
    expect(ruleOf(...times(9, () => failed('', 'A')))).toBe('nothing-fired');
  });
  test('a null diff neither counts nor interrupts', () => {
    expect(ruleOf(failed('t1', 'A'), failed('t1', null), failed('t1', 'A'), failed('t1', 'A'))).toBe('same-failure');
    expect(ruleOf(failed('t1', 'A'), failed('t1', null), failed('t1', 'A'))).toBe('diff-unobservable');
  });
  test('a smaller set restarts no-movement; another stage interrupts it', () => {
    const grow = [
      failed('a b', 'A', prep),
      failed('c d', 'A', prep),
      failed('e f', 'A', prep),
      failed('g h', 'A', prep),
    ];
    expect(ruleOf(...grow, failed('g', 'A', prep))).toBe('set-shrank');
    expect(ruleOf(...grow, failed('x', 'A'), failed('y', 'A', prep))).toBe('nothing-fired');
    expect(ruleOf(...grow, failed('x', 'A', prep))).toBe('no-movement');
  });
  test('circling starts anew with any gate’s first pass, not with its second', () => {
    const moving = (count: number, from: number) => times(count, (at) => failed('t1', `d${from + at}`));
    expect(ruleOf(...moving(3, 0), passed('x', { gate: 'lint' }), ...moving(5, 10))).toBe('pass-stands');
    expect(
      ruleOf(passed('x', { gate: 'lint' }), ...moving(3, 0), passed('y', { gate: 'lint' }), ...moving(3, 10)),
    ).toBe('circling');
  });
  test('circling starts anew with a set smaller than all before, not with one that only goes back', () => {
    const lint = (keys: string, diff: string) => failed(keys, diff, { gate: 'lint' });
    const moving = (from: number) => times(3, (at) => failed('t1', `d${from + at}`));
    expect(
      ruleOf(lint('a b', 'x'), lint('a', 'y'), ...moving(0), lint('a b', 'z'), lint('a', 'u'), ...moving(10)),
    ).toBe('circling');
    expect(ruleOf(lint('a b c', 'x'), lint('a b', 'y'), ...moving(0), lint('a', 'u'), ...moving(10))).toBe(
      'set-shrank',
    );
  });
  test('circling ends with the progress of another gate, before its own gate is tried again', () => {
    const circled = times(6, (at) => failed('t1', `d${at}`));
    expect(ruleOf(...circled, passed('d5', { gate: 'other' }))).toBe('pass-stands');
  });
  test('circling needs two diff states and can be switched off', () => {
    // Where three equal failures on one state say nothing yet.
    const patient = { ...defaultPolicy, sameFailure: 100 };
    expect(
      judged(
        times(6, () => failed('t1', 'A')),
        patient,
      ).rule,
    ).toBe('nothing-fired');
    expect(judged([...times(5, () => failed('t1', 'A')), failed('t1', 'B')], patient).rule).toBe('circling');
    const off = { ...defaultPolicy, circling: 0 };
    expect(
      judged(
        times(9, (at) => failed('t1', `d${at}`)),
        off,
      ).rule,
    ).toBe('nothing-fired');
  });
  test('the gate tried first decides', () => {
    const both = times(3, () => [failed('l', 'A', { gate: 'lint' }), failed('t', 'A')]).flat();
    expect(judged([errored('test'), ...both]).gate).toBe('test');
    expect(judged(both).gate).toBe('lint');
  });
  test('sets beyond the limit compare by size and their smallest hashes', () => {
    const many = times(60, (at) => `k${at}`);
    expect(ruleOf(failed(many.join(' '), 'A'), failed(many.slice(0, 40).join(' '), 'B'))).toBe('set-shrank');
    expect(ruleOf(failed(many.join(' '), 'A'), failed(times(40, (at) => `n${at}`).join(' '), 'B'))).toBe(
      'nothing-fired',
    );
  });
});

describe('a pass stands', () => {
  test('until the diff returns to a state older than it, and not the one it was on', () => {
    expect(ruleOf(failed('t1', 'A'), passed('B'), committed('C'))).toBe('pass-stands');
    expect(ruleOf(failed('t1', 'A'), passed('B'), committed('C'), committed('B'))).toBe('pass-stands');
    expect(ruleOf(failed('t1', 'A'), passed('B'), committed('A'))).toBe('nothing-fired');
    expect(ruleOf(failed('t1', 'A'), passed('B'), committed('A'), committed('B'))).toBe('nothing-fired');
  });
});

describe('awaiting wake', () => {
  const pause = [claimed(), passed('A', prep)];
  test('nothing that is not substantive clears it, a worker’s checkpoint on another diff does', () => {
    expect(ruleOf(...pause, used(), checkpoint('harness', 'B'), checkpoint('worker'), checkpoint('worker', 'A'))).toBe(
      'passed-prep',
    );
    expect(ruleOf(...pause, checkpoint('worker', 'B'))).toBe('pass-stands');
    expect(ruleOf(...pause, woken())).toBe('pass-stands');
    expect(ruleOf(...pause, edited('a', '1', '1'))).toBe('pass-stands');
  });
  test('it raises after two ticks since that event, not after done, not while a delegation is open', () => {
    const raises = (...facts: Fact[]) => judged(facts).raises;
    expect(raises(...pause, ticked())).toBe(false);
    expect(raises(...pause, ticked(), ticked())).toBe(true);
    expect(raises(...pause, ticked(), checkpoint('subagent-stop'), ticked())).toBe(false);
    expect(raises(claimed(), opened('c'), passed('A', prep), ticked(), ticked())).toBe(false);
    expect(ruleOf(...pause, done())).toBe('pass-stands');
  });
  test('forty delegations are open until the last one is completed', () => {
    const open = times(40, (at) => opened(`c${at}`));
    const close = times(40, (at) => completed(`c${at}`));
    expect(ruleOf(...open, ...close.slice(0, 39))).toBe('no-evidence');
    expect(ruleOf(...open, ...close)).toBe('delegation-done');
    expect(ruleOf(...open, ...close.slice(0, 39), completed('stranger'))).toBe('no-evidence');
  });
});

describe('overrun', () => {
  test('is held by checkpoints that bring new work, not by repeated ones, the base or ones without a diff', () => {
    const tries = (from: number, count: number) => times(count, (at) => failed(`t${from + at}`, `d${from + at}`));
    const claim = claimed({ gateAttempts: 2 });
    expect(ruleOf(claim, ...tries(0, 4), checkpoint('worker', 'n'), ...tries(4, 4))).toBe('nothing-fired');
    expect(ruleOf(claim, ...tries(0, 4), checkpoint('subagent-stop', 'n'), ...tries(4, 1))).toBe('nothing-fired');
    expect(ruleOf(claim, checkpoint('worker', 'n'), ...tries(0, 4), checkpoint('worker', 'n'), ...tries(4, 1))).toBe(
      'overrun',
    );
    expect(ruleOf(claim, ...tries(0, 4), checkpoint('worker'), ...tries(4, 1))).toBe('overrun');
    expect(ruleOf(claim, ...tries(0, 4), checkpoint('harness', 'n'), ...tries(4, 1))).toBe('overrun');
  });
  test('never without a sizing, never while every gate passes', () => {
    expect(ruleOf(claimed(), ...times(50, (at) => failed(`t${at}`, `d${at}`)))).toBe('nothing-fired');
    expect(ruleOf(claimed({ gateAttempts: 1 }), ...times(9, (at) => failed(`t${at}`, `d${at}`)), passed('x'))).toBe(
      'pass-stands',
    );
  });
});

describe('acknowledgement and unblocking', () => {
  const stuck = [claimed(), ...times(3, () => failed('t1', 'A'))];
  test('the class stands until the next substantive event, and raises nothing', () => {
    expect(judged([...stuck, acknowledged()])).toMatchObject({ rule: 'same-failure', raises: false, count: 3 });
    expect(judged([...stuck, acknowledged(), used(), ticked()])).toMatchObject({ rule: 'same-failure', raises: false });
    expect(ruleOf(...stuck, acknowledged(), failed('t1', 'A'))).toBe('nothing-fired');
    expect(judged([...stuck, acknowledged(), ...times(3, () => failed('t1', 'A'))])).toMatchObject({
      rule: 'same-failure',
      raises: true,
    });
  });
  test('an acknowledgement of an older incarnation changes nothing', () => {
    const state = folded([...stuck, claimed(), failed('t1', 'A')]);
    expect(evolve(state, acknowledged(1))).toBe(state);
  });
  test('returns start again, the states seen stay', () => {
    const fight = [failed('t1', 'A'), failed('t2', 'B'), failed('t1', 'A'), failed('t2', 'B')];
    expect(ruleOf(claimed(), ...fight, acknowledged(), failed('t1', 'A'))).toBe('nothing-fired');
    expect(ruleOf(claimed(), ...fight, acknowledged(), failed('t1', 'A'), failed('t2', 'B'))).toBe('revert');
  });
  test('an acknowledged pause is not raised again by ticks alone', () => {
    const acked = [claimed(), passed('A', prep), ticked(), ticked(), acknowledged(), ...times(9, ticked)];
    expect(judged(acked)).toMatchObject({ class: 'awaiting-wake', raises: false });
  });
  test('only unblocked unblocks, and it needs fresh evidence', () => {
    expect(judged([...stuck, blocked(), failed('t1', 'A')])).toMatchObject({
      class: 'stagnating',
      raises: false,
      phase: 'blocked',
    });
    expect(judged([...stuck, blocked(), claimed(), ...stuck.slice(1)])).toMatchObject({
      raises: false,
      phase: 'blocked',
    });
    expect(judged([...stuck, blocked(), unblocked()])).toMatchObject({
      class: 'stagnating',
      raises: false,
      active: true,
    });
    expect(judged([...stuck, unblocked()]).raises).toBe(true);
  });
});

describe('phase and incarnation', () => {
  test('a worker’s done is a claim until a done gate passed there, or somebody else says so', () => {
    expect(judged([claimed(), passed('A'), done()]).phase).toBe('done-claimed');
    expect(judged([claimed(), passed('A'), done('worker'), passed('A', { stage: 'done' })]).phase).toBe('done');
    expect(judged([claimed(), passed('A', { stage: 'done' }), passed('B'), done('worker')]).phase).toBe('done-claimed');
    const confirmed = [claimed(), passed('A', { stage: 'done' }), done('worker')];
    expect(judged([...confirmed, passed('B', { stage: 'done' })]).phase).toBe('done');
    expect(judged([claimed(), passed('A'), done('worker'), done('ci')]).phase).toBe('done');
  });
  test('released ends what is active', () => {
    expect(judged([claimed(), ...times(3, () => failed('t1', 'A')), released()])).toMatchObject({
      phase: 'released',
      active: false,
      raises: false,
    });
  });
  test('evidence of an older incarnation changes nothing, of a higher one opens it', () => {
    const state = folded([claimed(), claimed(), failed('t1', 'A')]);
    expect(state.incarnation).toBe(2);
    expect(evolve(state, done('person', 1))).toBe(state);
    expect(assess(evolve(state, { ...failed('t1', 'A'), incarnation: 7 }), defaultPolicy)).toMatchObject({
      incarnation: 7,
      phase: 'unclaimed',
      attempts: 1,
    });
  });
});

describe('what counts as a verdict', () => {
  const attempt = (data: object) => ({ ...failed('', 'A'), data: { ...failed('', 'A').data, ...data } }) as Fact;
  test('a failure that ran nothing or said nothing is errored', () => {
    for (const data of [{ exitCode: 126 }, { exitCode: 127 }, { output: '' }, { output: ' \n' }])
      expect(ruleOf(...times(3, () => attempt(data)))).toBe('infrastructure');
    expect(ruleOf(...times(3, () => attempt({ output: '???' })))).toBe('nothing-fired');
    expect(ruleOf(...times(3, () => attempt({ output: '', failures: [{ key: 'a' }] })))).toBe('same-failure');
  });
  test('a signature that ingest read is taken as it stands', () => {
    const signature = { version: 9, value: 'f'.repeat(64), tool: 'x' };
    expect(judged(times(3, (at) => attempt({ signature, failures: [{ key: `k${at}` }] })))).toMatchObject({
      rule: 'same-failure',
      signature: signature.value,
    });
    expect(
      ruleOf(...times(3, () => attempt({ signature: { ...signature, value: null }, failures: [{ key: 'a' }] }))),
    ).toBe('nothing-fired');
  });
});

test('precedence: more than one rule fires, the first decides', () => {
  const state = folded([claimed({ gateAttempts: 1 }), ...times(3, () => failed('t1', 'A')), conflicting()]);
  expect(firingRules(state, defaultPolicy)).toEqual(['conflict', 'same-failure', 'overrun', 'nothing-fired']);
  expect(assess(state, defaultPolicy).rule).toBe('conflict');
});

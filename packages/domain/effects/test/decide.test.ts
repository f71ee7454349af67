import type { EffectRecord } from '@headway/contracts';
import { fold } from '@headway/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerOfBroken,
  historyHash,
  isTerminal,
  judgeAuthority,
  judgeRetry,
  meaningOfStatus,
  noOperation,
  type Operation,
  type OperationChanged,
  type OperationCommand,
  operationDecider,
  operationId,
  type RetryFacts,
  requestDigest,
  verifyHistory,
} from '../src/index.ts';

const holds = { holds: 'True' } as const;
const claim = (epoch: number, leaseLeftMs = 60_000) => ({ epoch, leaseLeftMs });
const facts: RetryFacts = {
  class: 'K',
  sinceFirstStartMs: 1_000,
  sinceDeadlineMs: 10,
  timeoutMs: 500,
  processingMs: 100,
  retentionMs: 10_000,
  egressDrained: false,
};

function after(...commands: readonly OperationCommand[]): Operation {
  return commands.reduce((operation, command) => {
    const decided = operationDecider.decide(operation, command);
    if (!decided.ok) throw new Error(`${command.command}: ${decided.failure}`);
    return fold(operationDecider.evolve, operation, decided.value);
  }, noOperation());
}

const propose: OperationCommand = { command: 'propose', digest: 'd', planRevision: null };
const admit: OperationCommand = { command: 'judge', authority: holds };
const start = (epoch: number): OperationCommand => ({
  command: 'start',
  epoch,
  claim: claim(epoch),
  authority: holds,
  timeoutMs: 500,
  repeatUnsafe: null,
});
const settle = (epoch: number, answer: 'succeeded' | 'refused' | 'not-sent' | 'uncertain'): OperationCommand => ({
  command: 'settle',
  epoch,
  answer: answer === 'succeeded' ? { answer, result: { n: 1 } } : { answer, reason: answer },
});
const lose = (epoch: number): OperationCommand => ({ command: 'lose-sight', epoch, reason: 'deadline' });
const look = (epoch: number, observed: 'absent' | 'present' | 'unknown'): OperationCommand => ({
  command: 'reconcile',
  epoch,
  claim: claim(epoch),
  observed:
    observed === 'present'
      ? { observed, result: { n: 1 } }
      : observed === 'absent'
        ? { observed, detail: '' }
        : { observed, reason: '' },
  facts,
  authority: holds,
});

describe('an operation', () => {
  const decided = (operation: Operation, command: OperationCommand) => {
    const answer = operationDecider.decide(operation, command);
    return answer.ok ? answer.value.map(({ change }) => change) : answer.failure;
  };

  it('goes from being asked for to its result', () => {
    expect(after(propose, admit, start(1), settle(1, 'succeeded'))).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
  });

  it('is one with its digest', () => {
    expect(decided(after(propose), propose)).toEqual([]);
    expect(decided(after(propose), { ...propose, digest: 'other' })).toBe('other-digest');
  });

  it('fails on a refusal of its first attempt, and of no later one', () => {
    expect(after(propose, admit, start(1), settle(1, 'refused')).state).toBe('FAILED');
    const second = after(propose, admit, start(1), lose(1), look(2, 'absent'), start(3));
    expect(decided(second, settle(3, 'refused'))).toEqual(['uncertain']);
    expect(decided(second, settle(3, 'not-sent'))).toEqual(['uncertain']);
  });

  it('takes a late success, and only notes a late failure', () => {
    const lost = after(propose, admit, start(1), lose(2));
    expect(decided(lost, settle(1, 'succeeded'))).toEqual(['succeeded']);
    expect(decided(lost, settle(1, 'refused'))).toEqual(['evidence-recorded']);
    const failed = after(propose, admit, start(1), settle(1, 'refused'));
    expect(decided(failed, settle(1, 'succeeded'))).toEqual(['evidence-recorded']);
  });

  it('starts under the newest epoch, with enough lease, and while it is authorised', () => {
    const ready = after(propose, admit);
    const base = start(2) as Extract<OperationCommand, { command: 'start' }>;
    expect(decided(ready, { ...base, claim: claim(3) })).toBe('fenced');
    expect(decided(ready, { ...base, claim: claim(2, 500) })).toBe('lease-too-short');
    expect(decided(ready, { ...base, authority: { holds: 'Unknown', reason: 'revoked' } })).toEqual(['withdrawn']);
    const again = after(propose, admit, start(1), lose(1), look(2, 'absent'));
    expect(decided(again, { ...start(3), repeatUnsafe: 'forgotten' } as OperationCommand)).toEqual(['uncertain']);
  });

  it('is never withdrawn once it may have been sent', () => {
    const withdraw: OperationCommand = { command: 'withdraw', reason: 'superseded' };
    expect(decided(after(propose, admit), withdraw)).toEqual(['withdrawn']);
    expect(decided(after(propose, admit, start(1)), withdraw)).toEqual([]);
    expect(decided(after(propose, admit, start(1), lose(1)), withdraw)).toEqual([]);
  });

  it('is final when it is terminal, whatever is asked of it, and never decides an older epoch to move it', () => {
    const epoch = fc.integer({ min: 1, max: 4 });
    const command = fc.oneof(
      fc.constant(propose),
      fc.constant(admit),
      epoch.map(start),
      fc
        .tuple(epoch, fc.constantFrom('succeeded', 'refused', 'not-sent', 'uncertain'))
        .map(([e, a]) => settle(e, a as never)),
      epoch.map(lose),
      fc.tuple(epoch, fc.constantFrom('absent', 'present', 'unknown')).map(([e, o]) => look(e, o as never)),
      fc
        .constantFrom('SUCCEEDED', 'RETRY_AUTHORISED', 'ABANDONED')
        .map((to): OperationCommand => ({ command: 'resolve', to: to as never, reason: 'known', result: null })),
      fc.constant<OperationCommand>({ command: 'withdraw', reason: 'superseded' }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 25 }), (commands) => {
        let operation = noOperation();
        for (const next of commands) {
          const answer = operationDecider.decide(operation, next);
          if (!answer.ok) continue;
          const changes: readonly OperationChanged[] = answer.value;
          const moved = fold(operationDecider.evolve, operation, changes);
          if (operation.state !== null && isTerminal(operation.state)) {
            expect(moved.state).toBe(operation.state);
            expect(moved.result).toEqual(operation.result);
          }
          expect(moved.epoch).toBeGreaterThanOrEqual(operation.epoch);
          if (changes.some(({ change }) => change === 'failed')) expect(operation.attempt).toBe(1);
          operation = moved;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the table of errors', () => {
  const meaning = (status: number, limitsBeforeExecution = false) => meaningOfStatus(status, { limitsBeforeExecution });
  it.each([400, 401, 403, 404, 405, 410, 412, 413, 415, 422, 451])('%i is a refusal', (status) =>
    expect(meaning(status)).toBe('refused'),
  );
  it.each([301, 302, 307, 308, 402, 408, 409, 418, 425, 429, 500, 502, 503, 504])('%i is uncertain', (status) =>
    expect(meaning(status)).toBe('uncertain'),
  );
  it('believes 429 where the target decides it first', () => expect(meaning(429, true)).toBe('refused'));
  it('knows that nothing was sent until a byte was', () => {
    for (const at of ['lookup', 'connect', 'tls'] as const) expect(answerOfBroken(at, 'x').answer).toBe('not-sent');
    expect(answerOfBroken('written', 'x').answer).toBe('uncertain');
  });
});

describe('a repeat by a machine', () => {
  it('keeps within the retention of the key', () => {
    expect(judgeRetry('unobservable', facts).retry).toBe(true);
    expect(judgeRetry('unobservable', { ...facts, sinceFirstStartMs: 9_401 }).retry).toBe(false);
  });
  it('never comes while an attempt may be under way, nor after half a look', () => {
    for (const is of ['K', 'C', 'P', 'N'] as const) {
      expect(judgeRetry('absent', { ...facts, class: is, sinceDeadlineMs: -1 }).retry).toBe(false);
      expect(judgeRetry('unknown', { ...facts, class: is }).retry).toBe(false);
    }
  });
  it('waits in class P for the egress and the bound, and in class N for a person', () => {
    const p: RetryFacts = { ...facts, class: 'P', egressDrained: true, sinceDeadlineMs: 100 };
    expect(judgeRetry('absent', p).retry).toBe(true);
    expect(judgeRetry('absent', { ...p, egressDrained: false }).retry).toBe(false);
    expect(judgeRetry('absent', { ...p, sinceDeadlineMs: 99 }).retry).toBe(false);
    expect(judgeRetry('absent', { ...facts, class: 'N' }).retry).toBe(false);
    expect(judgeRetry('unobservable', { ...facts, class: 'C' }).retry).toBe(false);
  });
});

describe('an authority', () => {
  const authority = {
    verdict: 'True',
    revoked: false,
    planRevision: 'r',
    maximum: 1,
    used: 0,
    fingerprints: { a: '1' },
  } as const;
  const declared = { planRevision: 'r', assumptions: { a: '1' }, counted: false };
  it('holds as it was given, and for an effect that it has counted', () => {
    expect(judgeAuthority(authority, declared)).toEqual(holds);
    expect(judgeAuthority({ ...authority, used: 1 }, { ...declared, counted: true })).toEqual(holds);
  });
  it.each([
    [null, declared],
    [{ ...authority, revoked: true }, declared],
    [{ ...authority, verdict: 'Unknown' as const }, declared],
    [{ ...authority, planRevision: 's' }, declared],
    [{ ...authority, used: 1 }, declared],
    [{ ...authority, fingerprints: { a: '2' } }, declared],
    [{ ...authority, fingerprints: {} }, declared],
  ])('makes wait what is not so any more (%#)', (given, asked) =>
    expect(judgeAuthority(given, asked)).toMatchObject({ holds: 'Unknown' }),
  );
  it('refuses for ever by a verdict alone', () =>
    expect(judgeAuthority({ ...authority, verdict: 'False' }, declared)).toMatchObject({ holds: 'False' }));
});

describe('identity and history', () => {
  const identity = { tenant: 't', kind: 'http', target: 'x', key: 'k', generation: 1 };
  it('tells apart every part of an identity, and no order of inputs', () => {
    const ids = [
      identity,
      { ...identity, tenant: 'u' },
      { ...identity, key: 'k2' },
      { ...identity, generation: 2 },
    ].map(operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(requestDigest({ a: 1, b: [2] })).toBe(requestDigest({ b: [2], a: 1 }));
    expect(requestDigest({ a: 1 })).not.toBe(requestDigest({ a: 2 }));
  });

  it('finds every break of a history', () => {
    const records: EffectRecord[] = [];
    for (let version = 1; version <= 3; version += 1) {
      const previous = records.at(-1)?.hash ?? null;
      const entry = `{"n":${version}}`;
      records.push({ v: 1, operation: 'o', version, entry, previous, hash: historyHash(previous, version, entry) });
    }
    const [one, two, three] = records as [EffectRecord, EffectRecord, EffectRecord];
    expect(verifyHistory('o', records)).toEqual({ ok: true, value: three.hash });
    const broken = [
      [one, three],
      [two, three],
      [one, { ...two, entry: '{}' }, three],
      [one, { ...two, previous: 'x' }, three],
      [one, two, { ...three, operation: 'p' }],
    ];
    for (const history of broken) expect(verifyHistory('o', history).ok).toBe(false);
  });
});

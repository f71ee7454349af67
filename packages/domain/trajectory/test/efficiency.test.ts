import { type EvidenceEvent, emptyLedger, type Ledger } from '@headway/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countEvidence, efficiencyOf, liveAtOnce, type Span } from '../src/index.ts';

const ledger = (over: Partial<Ledger>): Ledger => ({ ...emptyLedger, ...over });
const event = (type: EvidenceEvent['type'], data: object): EvidenceEvent =>
  ({ specversion: '1.0', source: 't', id: '1', subject: 'W-1', type, data }) as EvidenceEvent;
const now = { current: true, opens: false };
const count = (...events: EvidenceEvent[]) => events.reduce((sum, one) => countEvidence(sum, one, now), emptyLedger);

describe('efficiency', () => {
  test('is the geometric mean of baseline by actual, at most 1 each', () => {
    const spent = { sizing: { gateAttempts: 2, commits: 4, tokens: 100 }, gateAttempts: 8, commits: 2, tokens: 400 };
    const found = efficiencyOf(ledger({ ...spent, usageReports: 1 }));
    expect(found.dimensions.map(({ score }) => score)).toEqual([0.25, 1, 0.25]);
    expect(found.efficiency).toBeCloseTo((0.25 * 1 * 0.25) ** (1 / 3), 12);
    expect(found).toMatchObject({ missing: [], completion: 1, reason: null });
  });

  test('tool calls and files stand for attempts and commits, five for one; tokens have no stand-in', () => {
    const found = efficiencyOf(ledger({ sizing: { toolCalls: 11, files: 6 }, gateAttempts: 6, commits: 4 }));
    expect(found.dimensions).toEqual([
      { dimension: 'gateAttempts', baseline: 3, actual: 6, score: 0.5 },
      { dimension: 'commits', baseline: 2, actual: 4, score: 0.5 },
    ]);
    expect(found.missing).toEqual([{ dimension: 'tokens', reason: expect.stringContaining('no estimate') }]);
    expect(found.efficiency).toBe(0.5);
  });

  test('what was not measured is missing and never 0', () => {
    const sizing = { gateAttempts: 1, commits: 1, tokens: 10 };
    const none = efficiencyOf(ledger({ sizing, gateAttempts: 1 }));
    expect(none.missing.map(({ dimension }) => dimension)).toEqual(['commits', 'tokens']);
    expect(none.efficiency).toBe(1);
    const partly = efficiencyOf(ledger({ sizing, gateAttempts: 1, tokens: 5, usageReports: 2, tokensUnmeasured: 1 }));
    expect(partly.missing).toContainEqual({ dimension: 'tokens', reason: expect.stringContaining('1 of 2') });
  });

  test('without a sizing or without evidence there is none, with the reason', () => {
    expect(efficiencyOf(ledger({ gateAttempts: 3 }))).toMatchObject({
      efficiency: null,
      reason: 'No claim gave a sizing.',
    });
    expect(efficiencyOf(ledger({ sizing: { gateAttempts: 3 } }))).toMatchObject({
      efficiency: null,
      trajectoryScore: null,
      reason: expect.stringContaining('No gate attempt'),
    });
    expect(efficiencyOf(ledger({ sizing: { tokens: 3 }, gateAttempts: 1 }))).toMatchObject({
      efficiency: null,
      reason: expect.stringContaining('No dimension'),
    });
  });

  test('the trajectory score is completion times efficiency, and unknown where completion is', () => {
    const spent = { sizing: { gateAttempts: 1 }, gateAttempts: 2, criteriaDeclared: 4 };
    expect(efficiencyOf(ledger({ ...spent, criteriaMet: 3 }))).toMatchObject({
      completion: 0.75,
      trajectoryScore: 0.375,
    });
    expect(efficiencyOf(ledger(spent))).toMatchObject({
      completion: null,
      completionReason: expect.stringContaining('4 criteria'),
      trajectoryScore: null,
    });
  });

  test('for any ledger every score is 0 to 1, and each dimension is told or missing, never both', () => {
    const number = fc.nat({ max: 1_000_000 });
    const sizing = fc.record(
      { files: number, toolCalls: number, gateAttempts: number, commits: number, tokens: number },
      { requiredKeys: [] },
    );
    const any = fc.record({
      sizing: fc.option(sizing),
      gateAttempts: number,
      commits: number,
      tokens: number,
      usageReports: number,
      tokensUnmeasured: number,
      criteriaDeclared: number,
      criteriaMet: fc.option(number),
    });
    fc.assert(
      fc.property(any, (over) => {
        const found = efficiencyOf(ledger(over as Partial<Ledger>));
        for (const score of [
          found.efficiency,
          found.trajectoryScore,
          found.completion,
          ...found.dimensions.map((one) => one.score),
        ])
          if (score !== null) expect(score >= 0 && score <= 1).toBe(true);
        expect((found.efficiency === null) === (found.reason !== null)).toBe(true);
        const told = [...found.dimensions, ...found.missing].map(({ dimension }) => dimension);
        expect(told.toSorted()).toEqual(['commits', 'gateAttempts', 'tokens']);
      }),
    );
  });
});

describe('the ledger', () => {
  test('counts what was spent, errored attempts too', () => {
    const attempt = event('headway.gate.attempted', { gate: 'g', outcome: 'errored', stage: 'bare' });
    const used = (inputTokens: number | null) =>
      event('headway.usage.recorded', { inputTokens, outputTokens: 1, costUsd: null, startedAt: '', endedAt: '' });
    expect(count(attempt, attempt, used(10), used(null), event('headway.commit.recorded', {}))).toMatchObject({
      gateAttempts: 2,
      commits: 1,
      tokens: 11,
      usageReports: 2,
      tokensUnmeasured: 1,
      costUnmeasured: 2,
    });
  });

  test('knows the delegations that are open, however many, and forgets them with the incarnation', () => {
    const open = (id: number) => event('headway.delegation.opened', { delegation: `d${id}` });
    const close = (id: number) => event('headway.delegation.completed', { delegation: `d${id}` });
    const forty = count(...Array.from({ length: 40 }, (_, id) => open(id)), open(0));
    expect(forty).toMatchObject({ moreDelegations: 8 });
    expect(forty.delegations).toHaveLength(32);
    const fewer = [close(3), close(39)].reduce((sum, one) => countEvidence(sum, one, now), forty);
    expect(fewer.delegations.map(({ delegation }) => delegation)).not.toContain('d3');
    expect(fewer.moreDelegations).toBe(7);
    const next = countEvidence(fewer, event('headway.work.claimed', { worker: 'w' }), { current: true, opens: true });
    expect(next).toMatchObject({ delegations: [], moreDelegations: 0 });
  });

  test('an older incarnation still spends, and says nothing else', () => {
    const older = { current: false, opens: false };
    const known = count(event('headway.work.claimed', { worker: 'w', sizing: { commits: 2 }, criteria: ['a'] }));
    const after = [
      event('headway.commit.recorded', {}),
      event('headway.work.claimed', { worker: 'x', sizing: { commits: 9 } }),
      event('headway.work.done', { criteriaMet: 1 }),
      event('headway.delegation.opened', { delegation: 'd' }),
    ].reduce((sum, one) => countEvidence(sum, one, older), known);
    expect(after).toEqual({ ...known, commits: 1 });
  });
});

describe('agents live at once', () => {
  const span = (agent: string, from: number, to: number): Span => ({ agent, from, to });
  test('counts agents, not reports, and not those that begin as another ends', () => {
    expect(liveAtOnce([])).toBeNull();
    expect(liveAtOnce([span('a', 0, 10), span('a', 5, 15), span('b', 15, 20)])).toEqual({ peak: 1, at: 0 });
    expect(liveAtOnce([span('a', 0, 10), span('b', 5, 15), span('c', 8, 9)])).toEqual({ peak: 3, at: 8 });
  });
  test('is what looking at every moment finds', () => {
    const any = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(30), fc.nat(10)), { minLength: 1 });
    fc.assert(
      fc.property(any, (given) => {
        const spans = given.map(([agent, from, length]) => span(agent, from, from + length));
        const liveAt = (at: number) =>
          new Set(spans.filter(({ from, to }) => from <= at && at < Math.max(to, from + 1)).map(({ agent }) => agent))
            .size;
        const most = Math.max(...Array.from({ length: 42 }, (_, at) => liveAt(at)));
        const found = liveAtOnce(spans);
        expect(found?.peak).toBe(most);
        expect(liveAt(found?.at ?? -1)).toBe(most);
      }),
    );
  });
});

import { ruleClasses } from '@headway/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstDifference, type Picture } from './oracle/compare.ts';
import { histories, tastes } from './oracle/histories.ts';

/** More of them find more: the seed of a failure is printed, and `ORACLE_SEED` plays it again. */
const runs = Number(process.env.ORACLE_RUNS ?? 60);
const seed = process.env.ORACLE_SEED === undefined ? {} : { seed: Number(process.env.ORACLE_SEED) };

test.each([
  [1, 40, 'any'],
  [1, 40, 'returns'],
  [1, 50, 'runs'],
  [1, 30, 'life'],
  [2, 50, 'runs'],
  [2, 40, 'life'],
  [4, 50, 'life'],
] as const)(
  '%i works, up to %i reports (%s): after each the fold says what the reference says',
  (works, length, taste) => {
    fc.assert(
      fc.property(histories(works, length, tastes[taste]), (history) => {
        expect(firstDifference(history)).toBeNull();
      }),
      { numRuns: runs, ...seed },
    );
  },
);

test('the histories come to every rule, and to every end of a signal', { timeout: 60_000 }, () => {
  const seen = new Set<string>();
  const see = ({ works, shared }: Picture): void => {
    for (const line of Object.values(works)) {
      seen.add(line.rule);
      if (line.signal !== null) seen.add(line.signal);
    }
    if (shared.length > 0) seen.add('shared');
  };
  for (const taste of Object.values(tastes))
    for (const history of fc.sample(histories(2, 60, taste), { numRuns: 60, seed: 1 })) firstDifference(history, see);
  const ends = ['open', 'acknowledged', 'withdrawn', 'superseded', 'shared'];
  expect([...seen].toSorted()).toEqual([...Object.keys(ruleClasses), ...ends].toSorted());
});

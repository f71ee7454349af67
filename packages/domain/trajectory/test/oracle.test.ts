import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstDifference } from './oracle/compare.ts';
import { histories } from './oracle/histories.ts';

const runs = Number(process.env.ORACLE_RUNS ?? 300);
const seed = process.env.ORACLE_SEED === undefined ? {} : { seed: Number(process.env.ORACLE_SEED) };
test.each([
  [1, 40],
  [2, 40],
  [3, 50],
])('%i works, up to %i reports: the reference says the same after each', (works, length) => {
  fc.assert(
    fc.property(histories(works, length), (history) => {
      expect(firstDifference(history)).toBeNull();
    }),
    { numRuns: runs, ...seed },
  );
});

import { type AdapterClass, adapterClasses } from '@headway/contracts';
import { afterAll, describe, expect, it } from 'vitest';
import { check } from './check.ts';
import { allGuards, type Guard, guards } from './world.ts';

/**
 * What breaks first when a guard is taken away, by class. `holds` = nothing does: the class carries that weight itself. A
 * class that is not named has no such guard.
 */
const TABLE: Readonly<Record<Guard, Partial<Record<AdapterClass, string>>>> = {
  startChecksEpoch: { K: 'I5', C: 'I5', P: 'I5', N: 'I5' },
  startChecksVerdict: { K: 'I7', C: 'I7', P: 'I7', N: 'I7' },
  expiryKeepsEpoch: { K: 'I6', C: 'I6', P: 'I6', N: 'I6' },
  startIsDurableFirst: { K: 'holds', C: 'holds', P: 'I1', N: 'I1' },
  takeoverIsUncertain: { K: 'I4', C: 'I4', P: 'I1', N: 'I1' },
  silenceIsUncertain: { K: 'I4', C: 'I4', P: 'I4', N: 'I4' },
  onlyWholeAnswersCount: { K: 'I2', C: 'I2', P: 'I2', N: 'I2' },
  refusalEndsFirstAttemptOnly: { K: 'I4', C: 'I4', P: 'holds', N: 'holds' },
  lateFailureMovesNothing: { K: 'I5', C: 'I5', P: 'I5', N: 'I5' },
  terminalIsFinal: { K: 'I9', C: 'I9', P: 'I9', N: 'I9' },
  keyOutlivesRepeats: { K: 'I1' },
  conditionFixedAtIntent: { C: 'I1' },
  egressDrained: { P: 'I1' },
  boundHasPassed: { P: 'I1' },
  listingIsFresh: { P: 'I1' },
  personDecidesInN: { N: 'I1' },
};

const PATIENCE_MS = 300_000;

describe('the protocol of guarded effects, in every interleaving', () => {
  const found = new Map<Guard, Map<AdapterClass, string>>();

  it.each(adapterClasses)('class %s keeps every invariant with all guards', { timeout: PATIENCE_MS }, (is) => {
    const { broken, trace, reached } = check({ class: is, guards: allGuards });
    expect({ broken, trace }).toEqual({ broken: [], trace: [] });
    const states = ['ADMITTED', 'STARTED', 'UNCERTAIN', 'SUCCEEDED', 'FAILED', 'ABANDONED'];
    // In class N no machine authorises a repeat.
    expect([...reached].sort()).toEqual((is === 'N' ? states : [...states, 'RETRY_AUTHORISED']).sort());
  });

  for (const guard of Object.keys(guards) as Guard[])
    for (const is of adapterClasses) {
      const expected = TABLE[guard][is];
      if (expected === undefined) continue;
      const says = expected === 'holds' ? 'still holds' : `breaks ${expected}`;
      it(`class ${is} without ${guard} ${says}`, { timeout: PATIENCE_MS }, () => {
        const { broken, trace } = check({ class: is, guards: { ...allGuards, [guard]: false } });
        const first = broken.length === 0 ? 'holds' : broken.includes(expected as never) ? expected : broken.join();
        found.set(guard, (found.get(guard) ?? new Map()).set(is, first));
        expect(first, trace.join(' > ')).toBe(expected);
      });
    }

  afterAll(() => {
    const row = (name: string, cells: readonly string[]) =>
      `${name.padEnd(30)}${cells.map((cell) => cell.padEnd(8)).join('')}`;
    const rows = (Object.keys(guards) as Guard[]).map((guard) =>
      row(
        guard,
        adapterClasses.map((is) => found.get(guard)?.get(is) ?? '.'),
      ),
    );
    process.stdout.write(`\n${[row('guard taken away', adapterClasses), ...rows].join('\n')}\n`);
  });
});

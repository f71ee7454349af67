import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordIndex } from './word-index.ts';

const found = (words: readonly (readonly string[])[], line: string): number[] => {
  const index = new WordIndex(words);
  index.find(line, 0, line.length);
  return words.flatMap((_, at) => ((at < 32 ? index.low >>> at : index.high >>> (at - 32)) & 1 ? [at] : []));
};

test('finds exactly the words that stand in the line', () => {
  const word = fc.stringMatching(/^\^?[ab✖]{2,5}$/);
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { maxLength: 4 }), { maxLength: 40 }),
      fc.stringMatching(/^[abc✖]{0,30}$/),
      (words, line) => {
        const expected = words.flatMap((list, at) =>
          list.some((text) => (text.startsWith('^') ? line.startsWith(text.slice(1)) : line.includes(text)))
            ? [at]
            : [],
        );
        expect(found(words, line)).toEqual(expected);
      },
    ),
  );
});

test('looks at its part of the text alone', () => {
  const index = new WordIndex([['^FAIL'], ['ed']]);
  expect(index.find('a FAILed', 2, 6)).toBe(true);
  expect([index.low, index.high]).toEqual([1, 0]);
});

test('tells of characters that are no text', () => {
  const index = new WordIndex([['FAIL']]);
  index.find('a\x1b[31m', 0, 6);
  expect(index.hasControls).toBe(true);
  index.find('a\tb ✖ é', 0, 7);
  expect(index.hasControls).toBe(false);
});

test('refuses words that every line would have, and more readers than it has bits', () => {
  expect(() => new WordIndex([['x']])).toThrow(/too short/);
  expect(() => new WordIndex(Array.from({ length: 65 }, () => ['xx']))).toThrow(/more than 64/);
});

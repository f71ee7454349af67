import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordIndex } from './word-index.ts';

const find = (index: WordIndex, line: string): number => {
  const bytes = Buffer.from(line);
  return index.find(bytes, 0, bytes.length);
};
const found = (words: readonly (readonly string[])[], line: string): number[] => {
  const index = new WordIndex(words);
  find(index, line);
  return words.flatMap((_, at) => ((at < 32 ? index.low >>> at : index.high >>> (at - 32)) & 1 ? [at] : []));
};

test('finds exactly the words that stand in the line', () => {
  const word = fc.stringMatching(/^\^?[ab✖]{2,5}$/);
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { maxLength: 4 }), { maxLength: 40 }),
      fc.stringMatching(/^[ \t]{0,2}[abc✖]{0,30}$/),
      (words, line) => {
        const text = line.trimStart();
        const expected = words.flatMap((list, at) =>
          list.some((one) => (one.startsWith('^') ? text.startsWith(one.slice(1)) : line.includes(one))) ? [at] : [],
        );
        expect(found(words, line)).toEqual(expected);
      },
    ),
  );
});

test('looks at its part of the text alone, up to the end of the line', () => {
  const index = new WordIndex([['^FAIL'], ['ed']]);
  expect(index.find(Buffer.from('a  FAILed'), 1, 7)).toBe(7);
  expect([index.low, index.high, index.begin]).toEqual([1, 0, 3]);
  expect(find(index, 'FAIL\ned')).toBe(4);
  expect(index.low).toBe(1);
  expect(find(index, 'FAIL\red')).toBe(4);
});

test('tells of characters that are no text, and of those that are not ASCII', () => {
  const index = new WordIndex([['FAIL']]);
  const told = (line: string) => {
    find(index, line);
    return [index.hasControls, index.isAscii];
  };
  expect(told('a\x1b[31m')).toEqual([true, true]);
  expect(told('a\tb')).toEqual([false, true]);
  expect(told('a\tb ✖ é')).toEqual([false, false]);
  for (const hidden of ['\x9b', '\u200b', '\ufeff', '\ufffd', '\x7f']) expect(told(`a${hidden}b`)[0]).toBe(true);
  index.find(Buffer.from([0x61, 0xff]), 0, 2);
  expect(index.hasControls).toBe(true);
});

test('refuses words that every line would have, and more readers than it has bits', () => {
  expect(() => new WordIndex([['x']])).toThrow(/too short/);
  expect(() => new WordIndex(Array.from({ length: 65 }, () => ['xx']))).toThrow(/more than 64/);
});

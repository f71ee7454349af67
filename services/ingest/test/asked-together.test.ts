import { expect, it } from 'vitest';
import { askTogether } from '../src/identity/asked-together.ts';

/** An archive that answers each question when told to. */
function slowArchive(known: Readonly<Record<string, string>>) {
  const questions: { keys: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const lookup = askTogether(
    (keys) =>
      new Promise((resolve, reject) => {
        const answer = () =>
          resolve(
            new Map(
              keys.flatMap((key) => (known[key] === undefined ? [] : [[key, { content: known[key], sequence: 1 }]])),
            ),
          );
        questions.push({ keys, answer, fail: reject });
      }),
  );
  return { questions, lookup };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('what is asked for while two questions are under way goes into one more, and each gets its answer', async () => {
  const { questions, lookup } = slowArchive({ b: 'old', d: 'older' });
  const answers = ['a', 'b', 'c', 'd', 'e'].map((key) => lookup([key]));
  expect(questions.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
  questions[0]?.answer();
  await turn();
  expect(questions[2]?.keys).toEqual(['c', 'd', 'e']);
  questions[1]?.answer();
  questions[2]?.answer();
  const found = await Promise.all(answers);
  expect(found[1]?.get('b')).toMatchObject({ content: 'old' });
  expect(found[3]?.get('d')).toMatchObject({ content: 'older' });
  expect(found[0]?.get('a')).toBeUndefined();
});

it('a question that fails fails for those in it, and the next ones are asked', async () => {
  const { questions, lookup } = slowArchive({ z: 'old' });
  const first = lookup(['a']);
  const second = lookup(['b']);
  const third = lookup(['z']);
  questions[0]?.fail(new Error('away'));
  questions[1]?.fail(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect(second).rejects.toThrow('away');
  questions[2]?.answer();
  expect((await third).get('z')).toMatchObject({ content: 'old' });
});

it('a question takes in no more than its bound', async () => {
  const { questions, lookup } = slowArchive({});
  const many = Array.from({ length: 1_500 }, (_, at) => `k${at}`);
  const answers = [lookup(['a']), lookup(['b']), ...Array.from({ length: 3 }, () => lookup(many))];
  questions[0]?.answer();
  await turn();
  expect(questions[2]?.keys).toHaveLength(3_000);
  for (const at of [1, 2]) questions[at]?.answer();
  await turn();
  expect(questions[3]?.keys).toHaveLength(1_500);
  questions[3]?.answer();
  await Promise.all(answers);
});

import { describe, expect, test } from 'vitest';
import { readAttempt, readOutput, readRules, type SignatureRules, signatureOf } from './index.ts';

async function rules(...list: object[]): Promise<SignatureRules> {
  const read = await readRules(JSON.stringify({ rules: list }));
  if (!read.ok) throw new Error(read.failure.detail);
  return read.value;
}
const keys = (output: string, own: SignatureRules) =>
  readOutput({ output, exitCode: 1 }, { rules: own }).failures.map((failure) => failure.key);

describe('rules of a user', () => {
  const migration = { id: 'migration', pattern: '^migration (?P<key>\\S+) failed(?: with (?P<error>\\w+))?' };

  test('name failing items by their groups', async () => {
    const own = await rules(migration);
    expect(keys('migration 0042_users failed with E23505\nmigration 7 ran\n', own)).toEqual([
      'migration: 0042_users: E23505',
    ]);
    expect(readOutput({ output: 'migration a failed', exitCode: 1 }, { rules: own }).tool).toBe('rules');
  });

  test('without a group the match is the key, masked', async () => {
    const own = await rules({ id: 'port', pattern: 'no answer from \\S+' });
    expect(keys('12:00:01 no answer from 127.0.0.1:4711\n', own)).toEqual(keys('no answer from 127.0.0.1:99\n', own));
  });

  test('come before the tools, the first one first', async () => {
    const own = await rules(
      { id: 'known', pattern: 'is flaky', means: 'ignore' },
      { id: 'any', pattern: '^✖ (?P<key>.*)' },
    );
    expect(keys('✖ is flaky (3ms)\n✖ adds\n', own)).toEqual(['any: adds']);
  });

  test('see lines without colours and CI prefixes', async () => {
    const own = await rules(migration);
    expect(keys('2026-01-02T03:04:05.1234567Z \x1b[31mmigration a failed\x1b[0m\n', own)).toEqual(['migration: a']);
  });

  test('stand in the signature by their version', async () => {
    const [one, other] = [await rules(migration), await rules({ ...migration, ignoreCase: true })];
    const read = readAttempt({ gate: 'db', outcome: 'failed', output: 'migration a failed' }, one);
    expect(read.signature).toMatchObject({ rules: one.id, value: signatureOf('db', ['migration: a']) });
    expect(one.id).not.toBe(other.id);
    expect((await rules(migration)).id).toBe(one.id);
    expect(readAttempt({ gate: 'db', outcome: 'failed', output: 'x' }).signature).not.toHaveProperty('rules');
  });

  test('bait for backtracking is read in linear time', async () => {
    const own = await rules({ id: 'bait', pattern: '^(a+)+$' }, { id: 'more', pattern: '(x+x+)+y' });
    expect(keys(`${'a'.repeat(4_000)}!\n${'x'.repeat(4_000)}\n`.repeat(20), own)).toEqual([]);
  });

  test.each([
    ['no JSON', '{', '/'],
    ['another shape', '[]', '/'],
    ['an unknown member', '{"rules":[{"id":"a","pattern":"x","colour":1}]}', '/rules/0'],
    ['a pattern that is none', '{"rules":[{"id":"a","pattern":"(x"}]}', '/rules/0/pattern'],
    ['look-behind, which is not linear', '{"rules":[{"id":"a","pattern":"(?<=x)y"}]}', '/rules/0/pattern'],
    ['a pattern that matches everything', '{"rules":[{"id":"a","pattern":"x*"}]}', '/rules/0/pattern'],
    ['two of one id', '{"rules":[{"id":"a","pattern":"x"},{"id":"a","pattern":"y"}]}', '/rules'],
    ['too long a pattern', JSON.stringify({ rules: [{ id: 'a', pattern: 'x'.repeat(1_001) }] }), '/rules/0/pattern'],
    [
      'patterns too large together',
      JSON.stringify({ rules: Array.from({ length: 30 }, (_, at) => ({ id: `r${at}`, pattern: 'a(b{999})' })) }),
      '/rules/19/pattern',
    ],
    [
      'too many',
      JSON.stringify({ rules: Array.from({ length: 65 }, (_, at) => ({ id: `r${at}`, pattern: 'x' })) }),
      '/rules',
    ],
    ['too large a file', `{"rules":[]}${' '.repeat(65 * 1024)}`, undefined],
  ])('%s is refused, saying where', async (_what, text, pointer) => {
    const read = await readRules(text);
    if (read.ok) throw new Error('it was taken');
    expect(read.failure).toMatchObject({ code: 'invalid_rules', ...(pointer === undefined ? {} : { pointer }) });
    expect(read.failure.detail.length).toBeGreaterThan(20);
  });
});

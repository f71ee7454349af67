import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOutput, signatureOf } from './index.ts';

/** The Node that runs the tests, and the first one of another version on the PATH. */
const nodes = [process.execPath, ...otherNode()];

function otherNode(): string[] {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    const answer = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (answer.status === 0 && answer.stdout.trim() !== process.version) return [node];
  }
  return [];
}

const project = (failing: readonly string[]) => `
import { describe, it, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
const fails = new Set(${JSON.stringify(failing)});
const order = ['adds', 'subtracts', 'error 404 is handled'].sort(() => Math.random() - 0.5);
for (const name of order)
  test(name, async () => { await wait(Math.random() * 20); if (fails.has(name)) assert.equal(Math.random(), 4); });
test('an error that passes: Error: FAILED', () => {});
describe('files', () => {
  it('reads', () => { if (fails.has('reads')) readFileSync(join(mkdtempSync(join(tmpdir(), 'reader-')), 'gone.txt')); });
  it('throws a type error', () => { if (fails.has('throws')) null.member; });
});
describe('other files', () => { it('reads', () => { if (fails.has('other reads')) throw new RangeError('too far'); }); });
`;

const folders: string[] = [];
async function run(node: string, reporter: string, failing: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'signature-'));
  folders.push(folder);
  await writeFile(join(folder, 'sum.test.mjs'), project(failing));
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...env } = process.env;
  return new Promise<{ output: string; exitCode: number } | null>((resolve) => {
    execFile(
      node,
      ['--test', `--test-reporter=${reporter}`],
      { cwd: folder, env: { ...env, ...(reporter === 'spec' ? { FORCE_COLOR: '1' } : {}) } },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== 'number') resolve(null);
        else resolve({ output: stdout + stderr, exitCode: Number(error?.code ?? 0) });
      },
    );
  });
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

for (const node of nodes)
  for (const reporter of ['spec', 'tap'])
    describe(`node --test with the ${reporter} reporter of ${node}`, () => {
      const sets = {
        four: ['adds', 'subtracts', 'reads', 'throws'],
        again: ['throws', 'reads', 'subtracts', 'adds'],
        three: ['adds', 'reads', 'throws'],
        adds: ['adds'],
        subtracts: ['subtracts'],
        reads: ['reads'],
        otherReads: ['other reads'],
        none: [],
      };
      type Name = keyof typeof sets;
      const results = new Map<Name, Awaited<ReturnType<typeof run>>>();
      beforeAll(async () => {
        for (const name of Object.keys(sets) as Name[]) results.set(name, await run(node, reporter, sets[name]));
      });
      const reading = (name: Name) => {
        const result = results.get(name);
        if (result == null) throw new Error(`${node} did not run ${name}`);
        return readOutput(result);
      };
      const keys = (name: Name) => reading(name).failures.map((failure) => failure.key);

      test('two runs of one failing set have one signature, whatever the order, folder, times and values', () => {
        expect(reading('four').outcome).toBe('failed');
        expect(keys('four').length).toBeGreaterThan(0);
        expect(keys('again')).toEqual(keys('four'));
      });

      test('another failing test, one failure fewer, and a test of the same name in another suite are other sets', () => {
        const names: Name[] = ['four', 'three', 'adds', 'subtracts', 'reads', 'otherReads'];
        const signatures = new Set(names.map((name) => signatureOf('test', keys(name))));
        expect(signatures).not.toContain(null);
        expect(signatures.size).toBe(names.length);
      });

      test('a smaller set is a strict subset of keys', () => {
        expect(keys('four')).toEqual(expect.arrayContaining(keys('three')));
        expect(keys('three').length).toBeLessThan(keys('four').length);
      });

      test('passing tests are no part of it, even when they are called errors', () => {
        expect(keys('adds').filter((key) => key.includes('an error that passes') || key.includes('404'))).toEqual([]);
        expect(reading('none')).toMatchObject({ outcome: 'passed', tool: null, failures: [] });
      });
    });

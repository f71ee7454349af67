import { describe, expect, test } from 'vitest';
import { createOutputReader, readOutput } from './index.ts';

const read = (output: string) => readOutput({ output, exitCode: 1 });
const keys = (output: string) => read(output).failures.map((failure) => failure.key);

const tree = (name: string) =>
  `✔ passes (1ms)\nError: printed by a test\n✖ ${name} (2.5ms)\nℹ tests 2\nℹ fail 1\nℹ duration_ms 12.5\n`;

describe('several tools in one output', () => {
  test('each give their part, and lines of nobody count outside the tests', () => {
    const output = `${tree('adds')}\nbuild.xyz:12: error: broken\nTAP version 13\nnot ok 1 - subtracts\n1..1\n`;
    expect(keys(output)).toEqual(['adds', 'build.xyz: error: broken', 'subtracts']);
    expect(read(output).tool).toBe('node:test+tap');
  });

  test('the next script of a package manager is nobody’s noise', () => {
    const output = `✖ adds (2.5ms)\n\n> shop@1.0.0 check\n> ./check\n\nerror: two prices for one item\n`;
    expect(keys(output)).toEqual(['adds', 'error: two prices for one item']);
  });

  test('a runner that dies without naming a test: its last words are what is known', () => {
    expect(keys('TAP version 13\nok 1 - a\nTypeError: out of luck\n')).toEqual(['TypeError: out of luck']);
  });

  test('tests that print on the other channel are noise there too', () => {
    const reader = createOutputReader();
    reader.push('▶ suite\n', 'stdout');
    reader.push('Error: printed\n', 'stderr');
    reader.push('  ✖ adds (1.5ms)\nℹ duration_ms 3\n', 'stdout');
    expect(reader.end({ exitCode: 1 }).failures.map((failure) => failure.key)).toEqual(['suite > adds']);
  });

  test('a document is read between lines of others', () => {
    const output = `src/a.c:3:1: error: broken\n<?xml version="1.0"?>\n<testsuites><testsuite name="s"><testcase name="adds"><failure type="KeyError"/></testcase></testsuite></testsuites>\nfatal: the end\n`;
    expect(keys(output)).toContain('s > adds: KeyError');
    expect(keys(output)).toContain('fatal: the end');
    expect(keys(output)).toHaveLength(3);
  });

  test('what only begins like a document is read as lines', () => {
    expect(keys('{\n  "a": 1\n}\nerror: broken\n')).toEqual(['error: broken']);
    expect(keys('{ "version": 1,\nerror: broken\n')).toEqual(['error: broken']);
    expect(keys('<?xml version="1.0"?>\n<html>\nerror: broken\n')).toEqual(['error: broken']);
  });

  test('wrappers count only where nothing else is known', () => {
    expect(keys('✖ adds (1.5ms)\nnpm error Lifecycle script `test` failed with error:\nnpm error code 1\n')).toEqual([
      'adds',
    ]);
  });
});

describe('programs side by side', () => {
  const interleaved = (one: string, other: string): string =>
    one
      .split('\n')
      .flatMap((line, at) => [`web:test: ${line}`, `@shop/api:test: ${other.split('\n')[at] ?? ''}`])
      .join('\n');

  test('are read apart, and their packages stand in the keys', () => {
    expect(keys(interleaved(tree('adds'), tree('subtracts')))).toEqual(['@shop/api > subtracts', 'web > adds']);
  });
  test('the same test in another package is another item', () => {
    expect(keys('web:test: ✖ adds (1.5ms)\n')).not.toEqual(keys('api:test: ✖ adds (1.5ms)\n'));
  });
  test.each([
    ['pnpm', (line: string) => `packages/web test: ${line}`, 'packages/web > '],
    ['docker compose', (line: string) => `web-1  | ${line}`, ''],
    ['concurrently', (line: string) => `[0] ${line}`, ''],
    ['yarn', (line: string) => `[web]: ${line}`, ''],
    ['Buildkite', (line: string) => `\x1b_bk;t=1700000000123\x07${line}`, ''],
    ['Azure', (line: string) => `2026-01-02T03:04:05.1234567Z ${line}`, ''],
    ['TeamCity', (line: string) => `[03:04:05]W:\t [Step 1/2] ${line}`.replace('\t ', ' '), ''],
    ['a downloaded log of GitHub', (line: string) => `build\tRun npm test\t2026-01-02T03:04:05.1234567Z ${line}`, ''],
    ['docker build', (line: string) => `#12 3.456 ${line}`, ''],
    ['Jenkins', (line: string) => `03:04:05  ${line}`, ''],
  ])('the prefix of %s changes nothing', (_what, prefixed, before) => {
    const lines = ['✖ adds (1.5ms)', 'ℹ duration_ms 12', 'build.xyz:12: error: broken'];
    expect(keys(lines.map(prefixed).join('\n'))).toEqual(keys(lines.join('\n')).map((key) => before + key));
  });
});

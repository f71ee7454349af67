import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createOutputReader, type OutputReading, readOutput } from './index.ts';

/** See fixtures/README.md. */
interface Expected {
  readonly tool: string;
  readonly tools?: Readonly<Record<string, string | null>>;
  readonly ran: readonly string[];
  readonly failing: Readonly<Record<string, readonly string[]>>;
  readonly equal?: readonly (readonly string[])[];
  readonly different?: readonly (readonly [string, string])[];
  readonly shrinks?: readonly (readonly [string, string])[];
  readonly outcome?: Readonly<Record<string, string>>;
  readonly exitCode?: Readonly<Record<string, number | null>>;
}

const MOST_BYTES = 24 * 1024;
const root = join(import.meta.dirname, '../fixtures');
const tools = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());

/** What CI systems and terminals make of an output. */
const dresses: Readonly<Record<string, (lines: string[]) => string>> = {
  'carriage returns': (lines) => lines.join('\r\n'),
  'GitHub Actions': (lines) =>
    lines.map((line, at) => `2026-01-02T03:04:${10 + (at % 50)}.1234567Z ${line}`).join('\n'),
  GitLab: (lines) => lines.map((line, at) => `2026-01-02T03:04:${10 + (at % 50)}.123456Z 01O ${line}`).join('\n'),
  Jenkins: (lines) => lines.map((line, at) => `[2026-01-02T03:04:${10 + (at % 50)}.123Z] ${line}`).join('\n'),
  colour: (lines) => lines.map((line) => `\x1b[31m${line}\x1b[39m\x1b[K`).join('\n'),
};

test('there are fixtures', () => {
  expect(tools.length).toBeGreaterThan(0);
});

describe.each(tools.map(({ name }) => name))('%s', (folder) => {
  const file = (name: string) => join(root, folder, name);
  const expected = JSON.parse(readFileSync(file('expected.json'), 'utf8')) as Expected;
  const variants = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -4));
  const exitCode = (variant: string) => {
    const said = expected.exitCode?.[variant];
    return said === undefined ? 1 : said;
  };
  const output = (variant: string) => readFileSync(file(`${variant}.txt`));
  const read = (variant: string): OutputReading => readOutput({ output: output(variant), exitCode: exitCode(variant) });
  const keys = (variant: string) => read(variant).failures.map((failure) => failure.key);

  test('every output is spoken of, small, and can be made again', () => {
    const named = new Set([...Object.keys(expected.failing), ...(expected.equal ?? []).flat()]);
    expect([...named].sort()).toEqual(variants.toSorted());
    for (const group of expected.equal ?? []) expect(group.some((name) => name in expected.failing)).toBe(true);
    for (const variant of variants) expect(output(variant).length).toBeLessThanOrEqual(MOST_BYTES);
    const isMade = readdirSync(join(root, folder)).some((name) => /^make\.\w+$/.test(name));
    expect(isMade || expected.ran.length === 0).toBe(true);
  });

  test.each(Object.keys(expected.failing))('%s names exactly the failing items', (variant) => {
    const reading = read(variant);
    expect(reading.failures.map((failure) => failure.key)).toEqual(expected.failing[variant]);
    expect(reading.outcome).toBe(expected.outcome?.[variant] ?? 'failed');
    const spoke = expected.tools !== undefined && variant in expected.tools ? expected.tools[variant] : expected.tool;
    if (reading.failures.length > 0) expect(reading.tool).toBe(spoke);
  });

  test.each(expected.equal ?? [])('%s and %s are the same failing set', (...group) => {
    for (const variant of group.filter((name) => typeof name === 'string'))
      expect({ [variant]: keys(variant) }).toEqual({ [variant]: keys(group[0] as string) });
  });

  test.each(expected.different ?? [])('%s and %s are two failing sets', (one, other) => {
    expect(keys(other)).not.toEqual(keys(one));
  });

  test.each(expected.shrinks ?? [])('of %s, %s is a part', (whole, part) => {
    expect(keys(whole)).toEqual(expect.arrayContaining(keys(part)));
    expect(keys(part).length).toBeLessThan(keys(whole).length);
  });

  describe.each(Object.keys(dresses))('dressed by %s', (dress) => {
    test.each(variants)('%s reads the same', (variant) => {
      const dressed = dresses[dress]?.(output(variant).toString().split(/\r?\n/)) ?? '';
      const reading = readOutput({ output: dressed, exitCode: exitCode(variant) });
      expect(reading.failures.map((failure) => failure.key)).toEqual(keys(variant));
    });
  });

  test.each(variants)('%s reads the same in chunks of any size', (variant) => {
    const bytes = output(variant);
    for (const size of [7, 1_024]) {
      const reader = createOutputReader();
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      expect(reader.end({ exitCode: exitCode(variant) })).toEqual(read(variant));
    }
  });

  test.each(variants)('%s reads the same when no line is passed over unseen', (variant) => {
    const watched = readOutput({ output: output(variant), exitCode: exitCode(variant) }, { watch: () => {} });
    expect(watched).toEqual(read(variant));
  });

  test('its script is there', () => {
    expect(expected.ran.length === 0 || ['make.sh', 'make.mjs', 'make.py'].some((name) => existsSync(file(name)))).toBe(
      true,
    );
  });
});

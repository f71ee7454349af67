import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from './index.ts';
import { toolReaders } from './readers/index.ts';

// What the fixtures show, counted from them: `fixtures/TABLE.md`. When it differs from what was counted, look why, then let
// vitest write it anew (`vitest run packages/domain/signatures/src/fixtures-table.test.ts -u`).

interface Expected {
  readonly tool: string;
  readonly tools?: Readonly<Record<string, string | null>>;
  readonly ran: readonly string[];
  readonly failing: Readonly<Record<string, readonly string[]>>;
  readonly equal?: readonly (readonly string[])[];
  readonly different?: readonly (readonly [string, string])[];
  readonly shrinks?: readonly (readonly [string, string])[];
  readonly exitCode?: Readonly<Record<string, number | null>>;
}

const root = join(import.meta.dirname, '../fixtures');
/** Of each output: CRLF, three CI systems, colour. */
const DRESSES = 5;

/** Sets that one run printed, but not whole or by a reporter that says less: `many.cut` beside `many.base`. */
function readOtherwise(failing: readonly string[]): string[] {
  return failing.filter((name) => {
    const [set, variant] = name.split('.');
    return variant !== undefined && variant !== 'base' && failing.includes(`${set}.base`);
  });
}

function measured(folder: string) {
  const expected = JSON.parse(readFileSync(join(root, folder, 'expected.json'), 'utf8')) as Expected;
  const outputs = readdirSync(join(root, folder)).filter((name) => name.endsWith('.txt'));
  const keys = new Map(
    outputs.map((file) => {
      const variant = file.slice(0, -4);
      const said = expected.exitCode?.[variant];
      const output = readFileSync(join(root, folder, file));
      const read = readOutput({ output, exitCode: said === undefined ? 1 : said });
      return [variant, JSON.stringify(read.failures.map(({ key }) => key))];
    }),
  );
  const pairs = (expected.equal ?? []).flatMap((group) =>
    group.flatMap((one, at) => group.slice(at + 1).map((other) => [one, other] as const)),
  );
  const apart = [...(expected.different ?? []), ...(expected.shrinks ?? [])];
  const wrong = [
    ...pairs.filter(([one, other]) => keys.get(one) !== keys.get(other)),
    ...apart.filter(([one, other]) => keys.get(one) === keys.get(other)),
    ...Object.entries(expected.failing).filter(([variant, set]) => keys.get(variant) !== JSON.stringify(set)),
  ];
  return { expected, outputs: outputs.length, pairs: pairs.length, apart: apart.length, wrong: wrong.length };
}

test('the table says what the fixtures show', async () => {
  const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const rows = folders.map((folder) => ({ folder, ...measured(folder) }));
  const sum = (count: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + count(row), 0);
  const shown = new Set(
    rows
      .flatMap(({ expected }) => [expected.tool, ...Object.values(expected.tools ?? {})])
      .flatMap((tool) => tool?.split('+') ?? []),
  );
  const unshown = [...new Set(toolReaders.map(({ tool }) => tool))].filter((tool) => !shown.has(tool)).sort();
  const otherwise = (expected: Expected) => readOtherwise(Object.keys(expected.failing)).map((name) => `\`${name}\``);
  const table = [
    '# What the outputs show',
    '',
    'Written by `src/fixtures-table.test.ts` out of the fixtures; not by hand.',
    '',
    'Every pair of one group of `equal` had to give one failing set, every pair of `different` and `shrinks` two. Errors are pairs and sets that came out otherwise now. What is left, *read otherwise*, are outputs of a failing set whose keys are others than those of the same set’s base: cut ones, of which less can be known, and reporters that print less or join names in another way.',
    `Besides, each output is read in ${DRESSES} dresses (line ends, CI systems, colour) and in chunks of two sizes, and had to give the same: ${sum((row) => row.outputs) * (DRESSES + 2)} pairs more.`,
    '',
    '| fixtures | run to print them | outputs | had to be equal | had to differ | errors | left: read otherwise |',
    '| --- | --- | ---: | ---: | ---: | ---: | --- |',
    ...rows.map(
      ({ folder, expected, outputs, pairs, apart, wrong }) =>
        `| ${folder} | ${expected.ran.join(', ') || '*documented format only*'} | ${outputs} | ${pairs} | ${apart} | ${wrong} | ${otherwise(expected).join(' ')} |`,
    ),
    `| **all** | | ${sum((row) => row.outputs)} | ${sum((row) => row.pairs)} | ${sum((row) => row.apart)} | ${sum((row) => row.wrong)} | |`,
    '',
    `Readers of which no output of a real run is kept here (written from documented formats or known output): ${[...rows.filter(({ expected }) => expected.ran.length === 0).map(({ folder }) => folder), ...unshown].join(', ')}.`,
    '',
  ].join('\n');
  expect(sum((row) => row.wrong)).toBe(0);
  await expect(table).toMatchFileSnapshot('../fixtures/TABLE.md');
});

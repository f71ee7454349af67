/**
 * Writes fixtures/<tool>/expected.json from what the readers read now: `node expected.ts TOOL…`. What it writes has to be
 * read by a person before it is kept: each set's keys must name what the project made fail, in every variant.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOutput } from '../../src/index.ts';

const root = join(import.meta.dirname, '../../fixtures');
/** Sets that are compared with `many` by name: another failing set each. */
const part = new Map([['many', ['fewer']]]);

for (const [name = '', tool, ran] of process.argv.slice(2).map((each) => each.split('='))) write(name, tool, ran);

function write(name: string, tool = name, ran = ''): void {
  const folder = join(root, name);
  const variants = readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .map((file) => file.slice(0, -4));
  const exitCode = (variant: string) => (variant.startsWith('green.') ? 0 : 1);
  const read = (variant: string) =>
    readOutput({ output: readFileSync(join(folder, `${variant}.txt`)), exitCode: exitCode(variant) });
  const keys = (variant: string) => read(variant).failures.map((failure) => failure.key);
  const sets = [...new Set(variants.map((variant) => variant.split('.')[0] as string))];
  const failing: Record<string, string[]> = {};
  const tools: Record<string, string | null> = {};
  const equal: string[][] = [];
  for (const set of sets) {
    const base = `${set}.base`;
    failing[base] = keys(base);
    const same = variants.filter(
      (variant) => variant.startsWith(`${set}.`) && equals(keys(variant), failing[base] ?? []),
    );
    if (same.length > 1) equal.push([base, ...same.filter((variant) => variant !== base)]);
    for (const variant of variants)
      if (variant.startsWith(`${set}.`) && !same.includes(variant)) failing[variant] = keys(variant);
  }
  for (const variant of Object.keys(failing)) {
    const { tool: spoke, failures } = read(variant);
    if (failures.length > 0 && spoke !== tool) tools[variant] = spoke;
  }
  const told = sets.filter((set) => (failing[`${set}.base`] ?? []).length > 0);
  const different = told.flatMap((one, at) =>
    told
      .slice(at + 1)
      .filter((other) => !equals(failing[`${one}.base`] ?? [], failing[`${other}.base`] ?? []))
      .map((other) => [`${one}.base`, `${other}.base`]),
  );
  const shrinks = [...part].flatMap(([whole, parts]) =>
    parts
      .filter((each) => sets.includes(whole) && sets.includes(each))
      .map((each) => [`${whole}.base`, `${each}.base`]),
  );
  const green = variants.filter((variant) => exitCode(variant) === 0);
  const expected = {
    tool,
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    ran: ran === '' ? [] : ran.split('+'),
    failing,
    equal,
    different,
    shrinks,
    ...(green.length === 0
      ? {}
      : {
          outcome: Object.fromEntries(green.map((variant) => [variant, 'passed'])),
          exitCode: Object.fromEntries(green.map((variant) => [variant, 0])),
        }),
  };
  writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 2)}\n`);
  const odd = Object.keys(failing).filter((variant) => !variant.endsWith('.base'));
  process.stdout.write(
    `${name}: ${variants.length} outputs, ${equal.reduce((sum, group) => sum + group.length - 1, 0)} equal, ${different.length} different, apart: ${odd.join(' ')}\n`,
  );
}

function equals(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at]);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const MOST_LINES = 400;
const sourceFile = /\.(ts|mjs|js|css|sql)$/;
const emptyName = /(^|\/)(utils?|common|helpers?|managers?)(\.[^/]*)?(\/|$)/i;
const notOurs = new Set(['node_modules', '.git', '.headway']);

const root = fileURLToPath(new URL('../../', import.meta.url));

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [relative(root, path)];
  });
}

const files = filesBelow(root);

describe('the style of this repository', () => {
  test('there are source files to look at', () => {
    expect(files.filter((file) => sourceFile.test(file)).length).toBeGreaterThan(20);
  });

  test(`no source file has more than ${MOST_LINES} lines`, () => {
    const long = files
      .filter((file) => sourceFile.test(file))
      .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > MOST_LINES);
    expect(long).toEqual([]);
  });

  test('no file or folder has a name that says nothing', () => {
    expect(
      ['packages/x/utils/a.ts', 'src/common.ts', 'a/helpers.test.ts'].filter((file) => !emptyName.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => emptyName.test(file))).toEqual([]);
  });
});

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../../../packages/faces/cli/bin/headway', import.meta.url));

/** Tells what it was started with, and ends as its first argument says. */
const fakeCommandLine = `
const [how, ...rest] = process.argv.slice(2);
if (how === 'wait') {
  process.on('SIGTERM', () => process.exit(42));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify({ cwd: process.cwd(), how, rest }));
if (how !== 'wait') process.exit(Number(how));
`;

let folder: string;
let root: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'headway launcher ')));
  root = join(folder, 'a copy');
  const bin = join(root, 'packages', 'faces', 'cli', 'bin');
  mkdirSync(join(bin, '..', 'src'), { recursive: true });
  cpSync(launcher, join(bin, 'headway'));
  writeFileSync(join(bin, '..', 'src', 'main.ts'), fakeCommandLine);
  mkdirSync(join(folder, 'elsewhere'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const copied = (): string => join(root, 'packages', 'faces', 'cli', 'bin', 'headway');

function setUp(): void {
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(process.execPath, join(root, 'node_modules', '.bin', 'node'));
}

function call(command: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(command, args, { cwd: join(folder, 'elsewhere'), encoding: 'utf8' });
}

describe('the launcher', () => {
  test("keeps the user's folder, arguments and the exit code", () => {
    setUp();
    const { stdout, status } = call(copied(), '7', 'two words', '--flag', '');
    expect(JSON.parse(stdout)).toMatchObject({
      cwd: join(folder, 'elsewhere'),
      how: '7',
      rest: ['two words', '--flag', ''],
    });
    expect(status).toBe(7);
  });

  test('works through a chain of symbolic links, absolute and relative', () => {
    setUp();
    symlinkSync(copied(), join(folder, 'absolute'));
    symlinkSync('absolute', join(folder, 'relative'));
    expect(call(join(folder, 'relative'), '3').status).toBe(3);
  });

  test('passes a signal on', async () => {
    setUp();
    const child = spawn(copied(), ['wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([42, null]);
  });

  test('says what to run where nothing was set up', () => {
    const { stderr, status } = spawnSync('/bin/sh', [copied(), 'status'], {
      encoding: 'utf8',
      env: { PATH: dirname('/bin/sh') },
    });
    expect(stderr).toContain(`cd '${root}' && npm start`);
    expect(status).toBe(1);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture, cutInTheMiddle, type Run } from './capture.ts';
import { checkers } from './checkers.ts';
import { runners, runsOf } from './test-runners.ts';
import { workspaces } from './workspaces.ts';

/**
 * Captures what a JavaScript tool prints on projects that fail on purpose, into fixtures/<tool>/<set>.<variant>.txt.
 * Installs the versions that test-runners.ts and checkers.ts name from npm, into a temporary folder or below the one
 * that `INSTALLED_TOOLS` names. Needs npm, a shell and some minutes; the tests do not run it. `sets`: only
 * these; none named = all.
 */
export async function make(name: string, sets: readonly string[] = process.argv.slice(2)): Promise<void> {
  const runner = runners[name];
  const tool =
    runner === undefined
      ? name === 'workspaces'
        ? workspaces
        : checkers[name]
      : { packages: runner.packages, runs: runsOf(runner) };
  if (tool === undefined) throw new Error(`no tool is called ${name}`);
  const installed = install(name, tool.packages);
  const folder = join(import.meta.dirname, '../../fixtures', name);
  mkdirSync(folder, { recursive: true });
  const isWanted = (set: string) => sets.length === 0 || sets.includes(set);
  for (const file of readdirSync(folder))
    if (file.endsWith('.txt') && isWanted(file.split('.')[0] as string)) rmSync(join(folder, file));
  for (const run of tool.runs) if (isWanted(run.set)) await write(folder, run, installed);
}

async function write(folder: string, run: Run, installed: string): Promise<void> {
  const text = await capture(run, installed);
  process.stdout.write(`${folder} ${run.set}.${run.variant} ${text.length}\n`);
  writeFileSync(join(folder, `${run.set}.${run.variant}.txt`), text);
  if (run.set === 'many' && run.variant === 'base') writeFileSync(join(folder, 'many.cut.txt'), cutInTheMiddle(text));
}

function install(name: string, packages: Readonly<Record<string, string>>): string {
  const below = process.env.INSTALLED_TOOLS;
  const folder = below === undefined ? mkdtempSync(join(tmpdir(), 'tools-')) : join(below, name);
  if (existsSync(join(folder, 'node_modules'))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const names = Object.entries(packages).map(([each, version]) => `${each}@${version}`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact', ...names], {
    cwd: folder,
    stdio: 'inherit',
  });
  return folder;
}

/**
 * Runs every benchmark of this folder, one after the other, and writes what they printed to a results file. Ratios of one
 * run can be compared; numbers of different machines cannot.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

const PATIENCE_MILLISECONDS = 15 * 60_000;
const only = process.argv.slice(2);
const names = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.bench.ts') && (only.length === 0 || only.includes(name.replace('.bench.ts', ''))),
);
const results: unknown[] = [];
for (const name of names) {
  process.stderr.write(`${name} ...\n`);
  const ran = spawnSync(process.execPath, [join(import.meta.dirname, name)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PATIENCE_MILLISECONDS,
  });
  if (ran.status !== 0) throw new Error(`${name} ended with ${ran.status ?? ran.signal}`);
  for (const line of ran.stdout.trim().split('\n')) {
    process.stdout.write(`${line}\n`);
    results.push({ benchmark: name, ...(JSON.parse(line) as object) });
  }
}
const machine = { cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version };
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
const file = join(folder, 'latest.json');
writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 2)}\n`);
process.stderr.write(`written to ${file}\n`);

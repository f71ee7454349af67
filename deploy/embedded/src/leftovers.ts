import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { groupLives } from './guarded.ts';
import { replaceFile } from './replace-file.ts';
import { until } from './waiting.ts';

const LEFTOVER_PATIENCE_MS = 15_000;
const KILLED_PATIENCE_MS = 5_000;

const record = z.record(z.string(), z.object({ group: z.number().int(), started: z.string() }));

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** What tells a process from another that later got the same number: the boot, and the start in ticks since then. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold spaces; the start time is the twentieth field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ended = fields[0] === 'Z';
    return ended ? undefined : `${bootId()} ${fields[19] ?? ''}`;
  } catch {
    return undefined;
  }
}

/**
 * The process groups that were started on one data folder, in a file there. A supervisor that was killed leaves guards that still
 * end its servers; the next one must not start others on the same data until those are gone.
 */
export function processRecord(dataFolder: string) {
  const file = join(dataFolder, 'processes.json');
  const current: z.infer<typeof record> = {};
  const save = (): void => replaceFile(file, `${JSON.stringify(current, null, 2)}\n`);

  return {
    add(name: string, group: number): void {
      current[name] = { group, started: startOf(group) ?? '' };
      save();
    },
    remove(name: string): void {
      delete current[name];
      save();
    },
    /** Waits until what an earlier supervisor left is gone, and kills what does not go. Returns the names of what was killed. */
    async clear(): Promise<string[]> {
      const killed: string[] = [];
      for (const [name, { group, started }] of Object.entries(readRecord(file))) {
        const ours = (): boolean => startOf(group) === started && groupLives(group);
        if ((await until(() => (ours() ? undefined : true), LEFTOVER_PATIENCE_MS)) === true) continue;
        process.kill(-group, 'SIGKILL');
        await until(() => (ours() ? undefined : true), KILLED_PATIENCE_MS);
        killed.push(name);
      }
      save();
      return killed;
    },
  };
}

export type ProcessRecord = ReturnType<typeof processRecord>;

function readRecord(file: string): z.infer<typeof record> {
  if (!existsSync(file)) return {};
  try {
    return record.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

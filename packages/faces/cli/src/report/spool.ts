import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { cliLimits } from '../limits.ts';

/**
 * Reports of one server that wait on disk, one file each, in the order they were made. Every report goes through here,
 * so that a newer one never overtakes an older one and a killed process loses none.
 */
export interface Spool {
  /** The report's name in the spool, or why it cannot be kept. */
  add(event: object): { readonly name: string } | { readonly reason: string };
  /** Oldest first. */
  names(): string[];
  /** `null` = gone (another process sent it) or not readable as JSON, which sets it aside. */
  read(name: string): { readonly event: object; readonly bytes: number } | null;
  remove(name: string): void;
  /** A report that the server will never take: out of the way, but kept for a person to look at. */
  setAside(name: string): void;
  /** Runs `work` while no other process sends from this spool; `null` when another one held it for too long. */
  exclusively<Value>(work: () => Promise<Value>): Promise<Value | null>;
  readonly folder: string;
}

/** Makes names of one millisecond sort in the order they were made. */
let made = 0;

export function openSpool(folder: string): Spool {
  const refusedFolder = join(folder, 'refused');
  const lock = join(folder, 'sending.lock');
  const names = (): string[] => {
    try {
      return readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .sort();
    } catch {
      return [];
    }
  };
  const setAside = (name: string): void => {
    try {
      mkdirSync(refusedFolder, { recursive: true, mode: 0o700 });
      const kept = readdirSync(refusedFolder).sort();
      for (const old of kept.slice(0, Math.max(0, kept.length + 1 - cliLimits.spoolFiles)))
        rmSync(join(refusedFolder, old));
      renameSync(join(folder, name), join(refusedFolder, name));
    } catch {
      rmSync(join(folder, name), { force: true });
    }
  };
  return {
    folder,
    names,
    setAside,
    add(event) {
      if (names().length >= cliLimits.spoolFiles)
        return { reason: `${cliLimits.spoolFiles} reports wait already in ${folder}` };
      made += 1;
      const name = `${String(Date.now()).padStart(15, '0')}-${String(made).padStart(6, '0')}-${randomUUID()}.json`;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(join(folder, `${name}.draft`), JSON.stringify(event), { mode: 0o600 });
        renameSync(join(folder, `${name}.draft`), join(folder, name));
        return { name };
      } catch (error) {
        return { reason: `${folder} cannot be written (${(error as NodeJS.ErrnoException).code})` };
      }
    },
    read(name) {
      let text: string;
      try {
        text = readFileSync(join(folder, name), 'utf8');
      } catch {
        return null;
      }
      try {
        return { event: JSON.parse(text) as object, bytes: Buffer.byteLength(text) };
      } catch {
        setAside(name);
        return null;
      }
    },
    remove: (name) => rmSync(join(folder, name), { force: true }),
    async exclusively(work) {
      if (!(await take(lock))) return null;
      try {
        return await work();
      } finally {
        try {
          rmdirSync(lock);
        } catch {
          // Taken over as stale by another process.
        }
      }
    },
  };
}

const LOCK_POLL_MS = 20;

async function take(lock: string): Promise<boolean> {
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    try {
      mkdirSync(lock);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
    try {
      if (Date.now() - statSync(lock).mtimeMs > cliLimits.spoolLockStaleMs) rmdirSync(lock);
    } catch {
      continue;
    }
    if (waited >= cliLimits.spoolLockMs) return false;
    await wait(LOCK_POLL_MS);
  }
}

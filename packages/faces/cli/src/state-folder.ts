import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { hash64 } from '@headway/kernel';
import { cliLimits } from './limits.ts';

/** Where this user's Headway keeps what it has to remember: `$XDG_STATE_HOME/headway`, else `~/.local/state/headway`. */
export function stateFolder(environment: NodeJS.ProcessEnv): string {
  const base = environment.XDG_STATE_HOME;
  if (base !== undefined && isAbsolute(base)) return join(base, 'headway');
  return join(environment.HOME || homedir(), '.local', 'state', 'headway');
}

/** A server and a tenant on it, as a folder name. */
export const serverKey = (url: string, tenant: string | undefined): string =>
  hash64(`${url.replace(/\/+$/, '')}\n${tenant ?? ''}`);

/** What is remembered between two commands. Losing it loses comfort, never evidence: every failure here is ignored. */
export interface Memory {
  /**
   * The position that this user's last report reached on this server. The last one, not the highest: a server whose data
   * was thrown away counts from the beginning again.
   */
  position(): string | null;
  rememberPosition(position: string): void;
  /** The base of a work in a work tree, and whether its claim named it. */
  base(work: string, root: string): KnownBase | null;
  rememberBase(work: string, root: string, base: KnownBase): void;
}

export interface KnownBase {
  readonly revision: string;
  readonly from: 'claim' | 'first seen';
}

export function memoryOf(folder: string, server: string): Memory {
  const position = join(folder, 'positions', server);
  const baseFile = (work: string, root: string) => join(folder, 'bases', server, hash64(`${root}\n${work}`));
  return {
    position: () => readIfThere(position),
    rememberPosition: (text) => writeWhole(position, text),
    base(work, root) {
      const [revision, from] = (readIfThere(baseFile(work, root)) ?? '').split(' ');
      if (revision === undefined || !/^[0-9a-f]{40,64}$/.test(revision)) return null;
      return { revision, from: from === 'claim' ? 'claim' : 'first seen' };
    },
    rememberBase(work, root, { revision, from }) {
      const file = baseFile(work, root);
      writeWhole(file, `${revision} ${from === 'claim' ? 'claim' : 'first-seen'}`);
      forgetOldest(dirname(file), cliLimits.bases);
    },
  };
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function writeWhole(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}.draft`;
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // Comfort only: see Memory.
  }
}

function forgetOldest(folder: string, most: number): void {
  try {
    const names = readdirSync(folder);
    if (names.length <= most) return;
    const aged = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, names.length - most)) rmSync(join(folder, name), { force: true });
  } catch {
    // Comfort only: see Memory.
  }
}

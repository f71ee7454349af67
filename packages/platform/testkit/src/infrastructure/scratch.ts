import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

/** Whom a server runs as that refuses to be root. */
export const NOBODY = { uid: 65_534, gid: 65_534 } as const;

export const runsAsRoot = (): boolean => process.getuid?.() === 0;

/**
 * The folder of this user below the system's temporary one: for data of test servers, and for what can be made anew.
 * Everybody may look into it, for servers that run as nobody.
 */
export function scratchRoot(): string {
  const root = path.join(tmpdir(), `headway-testkit-${userInfo().uid}`);
  mkdirSync(root, { recursive: true, mode: 0o755 });
  if (statSync(root).uid !== userInfo().uid)
    throw new Error(`${root} belongs to another user: remove it, or set TMPDIR to a folder of your own`);
  return root;
}

const OWNED_FOLDER = /^run-(\d+)-/;

/** A new empty folder for one server. Its name holds this process' id, so that {@link sweepScratch} can judge it. */
export function scratchFolder(kind: string, owner?: { readonly uid: number; readonly gid: number }): string {
  const folder = mkdtempSync(path.join(scratchRoot(), `run-${process.pid}-${kind}-`));
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

let swept = false;

/** Removes what test processes left behind that were killed before they could. Once per process. */
export function sweepScratch(): void {
  if (swept) return;
  swept = true;
  const root = scratchRoot();
  for (const name of readdirSync(root)) {
    const owner = OWNED_FOLDER.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    rmSync(path.join(root, name), { recursive: true, force: true });
  }
}

/** Whether there is such a process, of whatever user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

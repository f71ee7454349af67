import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, realpathSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './terminal.ts';

export const NOBODY = { uid: 65_534, gid: 65_534 } as const;
const ELSEWHERE = '/var/lib/headway';

export interface PostgresPlace {
  /** The folder that holds the cluster; the user that runs Postgres owns it. */
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** What the person should know about the place; empty where it is the usual one. */
  readonly notes: readonly string[];
}

function reachableByNobody(folder: string): boolean {
  // `cd` by that user itself: no reading of modes can know about access lists and mounts.
  return (
    spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { cwd: '/', ...NOBODY, stdio: 'ignore' }).status === 0
  );
}

/**
 * Where Postgres' data is. Postgres refuses to run as root, so root runs it as `nobody`; where that user cannot reach the data folder, the
 * cluster is placed below /var/lib/headway under a name made from the data folder's path.
 */
export function postgresPlace(dataFolder: string, passwordIsNew: boolean): PostgresPlace {
  const usual = join(dataFolder, 'postgres');
  if (process.getuid?.() !== 0) {
    mkdirSync(usual, { recursive: true, mode: 0o700 });
    return { folder: usual, user: undefined, notes: [] };
  }
  if (reachableByNobody(dataFolder)) {
    mkdirSync(usual, { recursive: true, mode: 0o700 });
    chownSync(usual, NOBODY.uid, NOBODY.gid);
    return { folder: usual, user: NOBODY, notes: [] };
  }
  const notes: string[] = [];
  const name = createHash('sha256').update(realpathSync(dataFolder)).digest('hex').slice(0, 16);
  const folder = join(ELSEWHERE, name);
  mkdirSync(ELSEWHERE, { recursive: true, mode: 0o711 });
  if (passwordIsNew && existsSync(folder)) {
    const aside = `${folder}.before-${new Date().toISOString().replaceAll(':', '')}`;
    renameSync(folder, aside);
    notes.push(
      `the data folder is new, but Postgres' data of an earlier one was at ${folder}; it was moved to ${aside}`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, NOBODY.uid, NOBODY.gid);
  if (!reachableByNobody(folder)) {
    throw new StartError(
      `neither ${dataFolder} nor ${folder} can be reached by the user nobody, as which Postgres has to run.\n` +
        '  Set HEADWAY_DATA_DIR to a folder that every user can pass through, or run Headway as another user than root.',
    );
  }
  notes.push(`Postgres' data is in ${folder}, since it cannot run as root and no other user can reach ${dataFolder}`);
  return { folder, user: NOBODY, notes };
}

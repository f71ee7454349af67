import {
  chownSync,
  existsSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Guarded, startGuarded } from './guarded.ts';
import type { LogFile } from './logs.ts';
import type { PostgresPlace } from './postgres-place.ts';
import { runToEnd } from './run-to-end.ts';
import type { Supervision } from './supervision.ts';
import { StartError } from './terminal.ts';

export const POSTGRES_USER = 'headway';
export const DATABASE = 'headway';
const PATIENCE_MS = 30_000;

/** Makes the cluster with its database on the first start. An interrupted try leaves nothing that looks like one. */
export async function ensureCluster(
  home: string,
  place: PostgresPlace,
  password: string,
  log: LogFile,
  context: Supervision,
): Promise<string> {
  const cluster = join(place.folder, 'cluster');
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    checkVersion(home, cluster);
    return cluster;
  }
  const staging = join(place.folder, 'cluster.new');
  const passwordFile = join(place.folder, 'password.new');
  rmSync(staging, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (place.user !== undefined) chownSync(passwordFile, place.user.uid, place.user.gid);
  const options = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const as = { cwd: place.folder, ...(place.user === undefined ? {} : { user: place.user }) };
  try {
    const initdb = join(home, 'bin', 'initdb');
    const making = startGuarded(initdb, ['-D', staging, '-U', POSTGRES_USER, ...options], as);
    await runToEnd('initdb', making, log, context);
    const single = 'echo "$1" | "$2" --single -D "$3" postgres';
    const args = ['-c', single, 'sh', `CREATE DATABASE ${DATABASE};`, join(home, 'bin', 'postgres'), staging];
    await runToEnd('create database', startGuarded('/bin/sh', args, as), log, context);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(staging, cluster);
  return cluster;
}

function checkVersion(home: string, cluster: string): void {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  const { major } = postgresVersion(home);
  if (made === major) return;
  throw new StartError(
    `the data in ${cluster} was made by Postgres ${made}, but Postgres ${major} is installed.\n` +
      `  Run the version of Headway that made it, or move that folder away to start anew.`,
  );
}

function postgresVersion(home: string): { major: string } {
  // The catalogue's first line names the major version that the binaries belong to.
  const first = readFileSync(join(home, 'share', 'postgresql', 'postgres.bki'), 'utf8').slice(0, 100);
  return { major: /PostgreSQL (\d+)/.exec(first)?.[1] ?? '' };
}

/**
 * Removes the pid file that a crash left, where the process it names is not a server on this cluster: after a reboot or in a container the
 * number may belong to anything by now, and Postgres would take that for itself.
 */
export function removeStalePidFile(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  let folder: string | undefined;
  try {
    // A postmaster's working directory is its cluster.
    folder = readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
  }
  if (folder !== realpathSync(cluster)) rmSync(file, { force: true });
}

export function startPostgres(home: string, place: PostgresPlace, cluster: string, port: number): Guarded {
  removeStalePidFile(cluster);
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  return startGuarded(
    join(home, 'bin', 'postgres'),
    ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      cwd: place.folder,
      stopSignal: 'SIGINT',
      patienceMs: PATIENCE_MS,
      ...(place.user === undefined ? {} : { user: place.user }),
    },
  );
}

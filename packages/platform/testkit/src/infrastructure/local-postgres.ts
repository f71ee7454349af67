import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
import { onFreePort } from './free-port.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { findPostgresBinaries, type PostgresBinaries, putInPlace } from './postgres-binaries.ts';
import { createDatabaseAt, query, versionAt } from './postgres-databases.ts';
import { NOBODY, runsAsRoot, scratchFolder, scratchRoot, sweepScratch } from './scratch.ts';
import { CLUSTER_ARGUMENTS, postgresArguments, type TestPostgres } from './test-postgres.ts';

const READY_WITHIN_MS = 30_000;
/** Of this place: reachable by TCP on loopback alone. */
const LOOPBACK_SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };

/** Local Postgres binaries on a fresh cluster. */
export async function startLocalPostgres(): Promise<TestPostgres> {
  sweepScratch();
  const binaries = findPostgresBinaries();
  const user = runsAsRoot() ? NOBODY : undefined;
  const dataDir = path.join(scratchFolder('postgres', user), 'data');
  await cp(await clusterTemplate(binaries, user), dataDir, { recursive: true, preserveTimestamps: true });
  if (user !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  await run('chmod', ['700', dataDir]);

  const first = await onFreePort((atPort) => launch(binaries, dataDir, atPort, user));
  const { port } = first;
  let { server } = first;
  const admin = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const createDatabase = () => createDatabaseAt(admin);
  const end = async (signal: NodeJS.Signals) => {
    server.signal(signal);
    await server.ended;
  };
  return {
    url: await createDatabase(),
    version: await versionAt(admin),
    get pid() {
      return server.pid;
    },
    createDatabase,
    async stop() {
      await end('SIGQUIT');
      rmSync(path.dirname(dataDir), { recursive: true, force: true });
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGINT');
      server = await eventually(() => launch(binaries, dataDir, port, user), {
        within: READY_WITHIN_MS,
        what: 'Postgres starting again',
      });
    },
  };
}

const run = promisify(execFile);

/** `initdb` takes most of the time of a start, so its result is kept and copied. */
async function clusterTemplate(binaries: PostgresBinaries, user: typeof NOBODY | undefined): Promise<string> {
  const template = path.join(scratchRoot(), `postgres-${binaries.version}-cluster`);
  if (existsSync(template)) return template;
  const draft = scratchFolder('initdb', user);
  const args = ['-D', path.join(draft, 'data'), '-U', 'postgres', '-A', 'trust', ...CLUSTER_ARGUMENTS];
  await run(path.join(binaries.folder, 'bin', 'initdb'), args, { cwd: draft, ...user });
  putInPlace(path.join(draft, 'data'), template);
  rmSync(draft, { recursive: true, force: true });
  return template;
}

async function launch(
  binaries: PostgresBinaries,
  dataDir: string,
  port: number,
  user: typeof NOBODY | undefined,
): Promise<GuardedProcess> {
  const server = await startGuarded({
    command: path.join(binaries.folder, 'bin', 'postgres'),
    args: ['-D', dataDir, '-p', String(port), ...postgresArguments(LOOPBACK_SETTINGS)],
    cwd: dataDir,
    endSignal: 'QUIT',
    ...(user === undefined ? {} : { user }),
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  try {
    await eventually(async () => !server.running || (await query(url, 'select 1')) !== null, {
      within: READY_WITHIN_MS,
      what: 'Postgres being ready',
    });
    if (!server.running || !ownsDataDir(dataDir, server.pid)) throw new Error('Postgres ended before it was ready');
    return server;
  } catch (cause) {
    server.signal('SIGKILL');
    throw new Error(`Postgres did not start on port ${port}:\n${server.output()}`, { cause });
  }
}

/** Tells our server from a stranger that answers on the port we wanted. */
function ownsDataDir(dataDir: string, pid: number): boolean {
  const file = path.join(dataDir, 'postmaster.pid');
  return existsSync(file) && readFileSync(file, 'utf8').startsWith(`${pid}\n`);
}

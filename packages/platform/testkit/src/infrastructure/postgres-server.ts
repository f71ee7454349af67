import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { findPostgresBinaries, type PostgresBinaries, putInPlace } from './postgres-binaries.ts';
import { NOBODY, runsAsRoot, scratchFolder, scratchRoot, sweepScratch } from './scratch.ts';

export interface PostgresOptions {
  /** Ask for a server of one's own, which may be killed, though the environment names a running one. */
  readonly own?: boolean;
}

export interface TestPostgres {
  /** Superuser in a fresh database. */
  readonly url: string;
  readonly version: string;
  /** Of the running postmaster; 0 where the server is not ours. */
  readonly pid: number;
  /** A new empty database on the same server; answers with its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server and removes its data; where it is not ours, drops the databases that were made. */
  stop(): Promise<void>;
  /** SIGKILL to the postmaster. Data stays, for {@link TestPostgres.restart}. Throws where the server is not ours. */
  kill9(): Promise<void>;
  /** Starts it again at the same address over the same data, after ending it fast if it runs. */
  restart(): Promise<void>;
}

const PORT_ATTEMPTS = 5;
const READY_WITHIN_MS = 30_000;
/** Many test files run against one server each, so none gets much memory. Durability is real: servers get killed. */
const SETTINGS = {
  shared_buffers: '32MB',
  max_connections: '100',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'warning',
  log_statement: 'none',
};

/** A real Postgres: the one of `HEADWAY_TEST_POSTGRES_URL`, or else local binaries on a fresh cluster. */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const running = process.env.HEADWAY_TEST_POSTGRES_URL;
  if (running !== undefined && running !== '' && options.own !== true) return borrowPostgres(running);
  sweepScratch();
  const binaries = findPostgresBinaries();
  const user = runsAsRoot() ? NOBODY : undefined;
  const dataDir = path.join(scratchFolder('postgres', user), 'data');
  await cp(await clusterTemplate(binaries, user), dataDir, { recursive: true, preserveTimestamps: true });
  if (user !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  await run('chmod', ['700', dataDir]);

  let port = await freePort();
  let server = await launch(binaries, dataDir, port, user).catch(async (error) => {
    for (let attempt = 1; ; attempt += 1) {
      if (attempt >= PORT_ATTEMPTS || !/Address already in use/i.test(String(error))) throw error;
      port = await freePort();
      try {
        return await launch(binaries, dataDir, port, user);
      } catch (again) {
        error = again;
      }
    }
  });
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
  const args = ['-D', path.join(draft, 'data'), '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust', '-N'];
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
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startGuarded({
    command: path.join(binaries.folder, 'bin', 'postgres'),
    args: ['-D', dataDir, '-p', String(port), ...settings],
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

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

let made = 0;

async function createDatabaseAt(admin: string): Promise<string> {
  made += 1;
  const name = `headway_test_${process.pid}_${Date.now().toString(36)}_${made}`;
  await query(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.toString();
}

async function versionAt(admin: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(admin, 'show server_version');
  return row?.server_version ?? 'unknown';
}

async function borrowPostgres(admin: string): Promise<TestPostgres> {
  const databases: string[] = [];
  const createDatabase = async () => {
    const url = await createDatabaseAt(admin);
    databases.push(url);
    return url;
  };
  const notOurs = async () => {
    throw new Error('the server of HEADWAY_TEST_POSTGRES_URL is not ours to end: ask for one with `own: true`');
  };
  return {
    url: await createDatabase(),
    version: await versionAt(admin),
    pid: 0,
    createDatabase,
    async stop() {
      for (const url of databases.splice(0))
        await query(admin, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    },
    kill9: notOurs,
    restart: notOurs,
  };
}

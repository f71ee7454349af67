import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateClaims } from '@headway/claims';
import { provisionStreams } from '@headway/eventlog';
import { eventually, freePort, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { migrateJournal } from '../src/journal/migrate.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const READY_MS = 60_000;
const OUTPUT_CHARACTERS = 20_000;

/** Bounds that the targets file of these tests sets: an attempt, and what a lease has beyond it. */
export const TIMEOUT_MS = 1_500;
export const MARGIN_MS = 1_000;

/** One executor as a process of its own. */
export interface ExecutorProcess {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Whether the kernel has it stopped. */
  stopped(): Promise<boolean>;
  output(): string;
  end(): Promise<void>;
}

/** Real servers, an HTTP target and a table, and executors to be killed. */
export interface Field {
  readonly nats: TestNats;
  readonly postgres: TestPostgres;
  readonly standIn: StandIn;
  readonly token: string;
  /** In the database that holds the journal, and the table that is written to. */
  readonly admin: pg.Client;
  start(failpoints?: string): Promise<ExecutorProcess>;
  call(process: ExecutorProcess, method: string, path: string, body?: object): Promise<{ status: number; body: any }>;
  stop(): Promise<void>;
}

export async function startField(): Promise<Field> {
  const [nats, postgres, standIn] = await Promise.all([startNats(), startPostgres({ own: true }), startStandIn()]);
  await provisionStreams({ servers: nats.url, name: 'test' });
  const url = postgres.url;
  await migrateClaims(url);
  await migrateJournal(url);
  let admin = new pg.Client({ connectionString: url });
  admin.on('error', () => {});
  await admin.connect();
  await admin.query(`create table public.notes (id text primary key, body text not null, operation text);
    create table public.writes (id text not null);
    create function public.note_write() returns trigger language plpgsql as $$ begin
      insert into public.writes values (new.id); return new; end $$;
    create trigger noted after insert on public.notes for each row execute function public.note_write()`);
  const folder = await mkdtemp(join(tmpdir(), 'headway-executor-'));
  const token = randomBytes(24).toString('base64url');
  await writeFile(join(folder, 'token'), token, { mode: 0o600 });
  await writeFile(
    join(folder, 'targets.json'),
    JSON.stringify({
      http: {
        origins: [{ origin: standIn.origin, privateAddresses: ['127.0.0.1'] }],
        timeoutMs: TIMEOUT_MS,
        processingSeconds: 0,
        keyRetentionSeconds: 3_600,
      },
      postgres: {
        databases: [{ name: 'main', url, tables: { 'public.notes': { operationColumn: 'operation' } } }],
        timeoutMs: TIMEOUT_MS,
      },
    }),
  );
  const running = new Set<ExecutorProcess>();

  async function start(failpoints = ''): Promise<ExecutorProcess> {
    const port = await freePort();
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...process.env,
        HEADWAY_NATS_URL: nats.url,
        HEADWAY_POSTGRES_URL: url,
        HEADWAY_PORT: String(port),
        HEADWAY_LOG_LEVEL: 'info',
        HEADWAY_OPERATOR_TOKEN_FILE: join(folder, 'token'),
        HEADWAY_EFFECT_TARGETS_FILE: join(folder, 'targets.json'),
        HEADWAY_EXECUTOR_LEASE_MARGIN_MS: String(MARGIN_MS),
        HEADWAY_EXECUTOR_FAILPOINTS: failpoints,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const executor = describeProcess(child, `http://127.0.0.1:${port}`);
    running.add(executor);
    void executor.ended.then(() => running.delete(executor));
    let ended = false;
    void executor.ended.then(() => {
      ended = true;
    });
    await eventually(async () => ended || (await fetch(`${executor.url}/readyz`)).status === 200, {
      within: READY_MS,
      what: 'an executor being ready',
    });
    if (ended) throw new Error(`the executor ended before it was ready:\n${executor.output()}`);
    return executor;
  }

  return {
    nats,
    postgres,
    standIn,
    token,
    get admin() {
      return admin;
    },
    start,
    call: async (executor, method, path, body) => {
      const response = await fetch(executor.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    stop: async () => {
      await Promise.all([...running].map((executor) => executor.end()));
      await admin.end();
      admin = admin as pg.Client;
      await Promise.all([nats.stop(), postgres.stop(), standIn.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function describeProcess(child: ChildProcess, url: string): ExecutorProcess {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARACTERS);
    });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pid = child.pid as number;
  return {
    url,
    pid,
    ended,
    signal: (signal) => void child.kill(signal),
    stopped: async () => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return / T /.test(stat.slice(stat.lastIndexOf(')')));
    },
    output: () => output,
    end: async () => {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectJetStreamLog, type EventLog, provisionStreams } from '@headway/eventlog';
import { migrate, openPool } from '@headway/readmodel';
import { eventually, freePort, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attempt, evidence } from './records.ts';

/** The real service as a process of its own, on a real log and a real store. */

/** More than several transactions take in. */
const MESSAGES = 12_000;
const EVENTS = 2;
const WORKS = 25;
const KILLS = 2;

let nats: TestNats;
let postgres: TestPostgres;
let log: EventLog;
let service: ChildProcess | null = null;

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
  await provisionStreams({ servers: nats.url, name: 'test', replicas: 1 });
  await migrate(postgres.url);
  log = await connectJetStreamLog({ servers: nats.url, name: 'test' });
});
afterAll(async () => {
  await kill();
  await log?.close();
  await Promise.all([nats?.stop(), postgres?.stop()]);
});

async function start(): Promise<string> {
  const port = await freePort();
  service = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
    env: {
      ...process.env,
      HEADWAY_NATS_URL: nats.url,
      HEADWAY_POSTGRES_URL: postgres.url,
      HEADWAY_PORT: String(port),
      HEADWAY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return `http://127.0.0.1:${port}`;
}

async function kill(): Promise<void> {
  const killed = service;
  service = null;
  if (killed === null || killed.exitCode !== null) return;
  const gone = once(killed, 'exit');
  killed.kill('SIGKILL');
  await gone;
}

test('killed again and again in the middle, it projects each event exactly once', async () => {
  const pool = openPool({ url: postgres.url, connections: 2, name: 'test' });
  const projected = async () => {
    const { rows } = await pool.query<{ sequence: number }>(
      `select sequence from headway.positions where reader = 'projection' and stream = 'EVIDENCE'`,
    );
    return rows[0]?.sequence ?? 0;
  };
  const events = Array.from({ length: MESSAGES }, () => Array.from({ length: EVENTS }, () => attempt()));
  const outcomes = await Promise.all(events.map((of, at) => log.append(evidence(`W-${at % WORKS}`, of))));
  expect(outcomes.every(({ outcome }) => outcome === 'appended')).toBe(true);

  for (let kills = 0; kills < KILLS; kills += 1) {
    const before = await projected();
    await start();
    await eventually(async () => (await projected()) > before || before === MESSAGES, {
      what: 'some progress',
      within: 30_000,
    });
    await kill();
  }
  const url = await start();
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, { what: 'ready', within: 30_000 });
  await eventually(async () => (await projected()) === MESSAGES, { what: 'everything', within: 30_000 });

  const timeline = await pool.query<{ id: string }>('select id from headway.timeline order by id');
  expect(timeline.rows.map(({ id }) => id)).toEqual(
    events
      .flat()
      .map(({ id }) => id)
      .sort((a, b) => (a < b ? -1 : 1)),
  );
  const archive = await pool.query<{ n: number }>('select count(*) as n from headway.archive');
  expect(archive.rows[0]?.n).toBe(MESSAGES);
  await pool.end();
  const works = (await (await fetch(`${url}/v1/works`)).json()) as { items: unknown[]; position: string };
  expect(works.items).toHaveLength(WORKS);
  expect(works.position).toBe(`EVIDENCE:1:${MESSAGES}`);
});

test('ends in good order when it is told to', async () => {
  await kill();
  const url = await start();
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, { what: 'ready', within: 30_000 });
  const stream = await fetch(`${url}/v1/stream`);
  const running = service as ChildProcess;
  const gone = once(running, 'exit');
  running.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
  await stream.body?.cancel().catch(() => undefined);
});

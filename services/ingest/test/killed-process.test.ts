import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EventsAnswer } from '@headway/contracts';
import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { migrate } from '@headway/readmodel';
import { eventually, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventsOf, note } from './ingest-under-test.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
let nats: TestNats;
let postgres: TestPostgres;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNats({ own: true }), startPostgres()]);
  await Promise.all([provisionStreams({ servers: nats.url, name: 'test' }), migrate(postgres.url)]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([nats?.stop(), postgres?.stop()]);
});

/** Starts the real service; resolves with its address once it is ready. */
async function startProcess() {
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      HEADWAY_NATS_URL: nats.url,
      HEADWAY_POSTGRES_URL: postgres.url,
      HEADWAY_HOST: '127.0.0.1',
      HEADWAY_PORT: '0',
      HEADWAY_TICK_SECONDS: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.add(child);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await Promise.race([
    new Promise<string>((resolve) => child.once('message', (message) => resolve((message as { url: string }).url))),
    exited.then(() => {
      throw new Error(`ingest ended before it was up:\n${output}`);
    }),
  ]);
  await eventually(async () => (await fetch(`${url}/readyz`)).ok, { what: 'readiness', within: 30_000 });
  return {
    url,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const post = async (url: string, events: readonly unknown[]): Promise<EventsAnswer> => {
  const answer = await fetch(`${url}/v1/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  });
  return (await answer.json()) as EventsAnswer;
};

/** Sends until every event is accepted or known, as a client does that must not lose any. */
async function postAll(url: string, events: readonly unknown[]): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) if ((await post(url, events)).refused === 0) return;
  throw new Error('the events were not taken in time');
}

it('leaves each event in the log once, whenever it is killed and however the client groups its retry', async () => {
  const events = Array.from({ length: 2_000 }, (_, index) => note(`e${index}`, 'x'.repeat(200), `W-${index % 40}`));
  const batches = Array.from({ length: 40 }, (_, index) => events.slice(index * 50, index * 50 + 50));
  const answered: string[] = [];
  for (const killAfter of [3, 11, 25]) {
    const ingest = await startProcess();
    let done = 0;
    const killed = Promise.withResolvers<void>();
    const sending = batches.map(async (batch) => {
      const answer = await post(ingest.url, batch).catch(() => null);
      if (answer !== null)
        answered.push(...answer.events.flatMap((one) => (one.verdict === 'refused' ? [] : [one.id])));
      done += 1;
      if (done === killAfter) void ingest.kill().then(killed.resolve);
    });
    await Promise.all([...sending, killed.promise]);
  }
  const last = await startProcess();
  for (let from = 0; from < events.length; from += 70) await postAll(last.url, events.slice(from, from + 70));
  await last.kill();

  const log = await connectJetStreamLog({ servers: nats.url, name: 'test' });
  const found = (await eventsOf(log)).map(({ id }) => id);
  await log.close();
  expect(found.length).toBe(events.length);
  expect(new Set(found)).toEqual(new Set(events.map(({ id }) => id)));
  expect(answered.length).toBeGreaterThan(0);
  expect(found).toEqual(expect.arrayContaining(answered));
}, 180_000);

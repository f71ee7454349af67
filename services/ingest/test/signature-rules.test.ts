import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectJetStreamLog, provisionStreams } from '@headway/eventlog';
import { migrate } from '@headway/readmodel';
import { SIGNATURE_VERSION, signatureOf } from '@headway/signatures';
import { eventually, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf } from './ingest-under-test.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
let nats: TestNats;
let postgres: TestPostgres;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headway-rules-'));
  [nats, postgres] = await Promise.all([startNats({ own: true }), startPostgres()]);
  await Promise.all([provisionStreams({ servers: nats.url, name: 'test' }), migrate(postgres.url)]);
});
afterAll(async () => {
  await Promise.all([nats?.stop(), postgres?.stop(), rm(folder, { recursive: true, force: true })]);
});

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

/** Starts the real service with that file; `url` is its address once it listens, `null` where it ended before. */
async function startWith(rules: string) {
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      HEADWAY_NATS_URL: nats.url,
      HEADWAY_POSTGRES_URL: postgres.url,
      HEADWAY_HOST: '127.0.0.1',
      HEADWAY_PORT: '0',
      HEADWAY_TICK_SECONDS: '0',
      HEADWAY_SIGNATURE_RULES: rules,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const url = await Promise.race([
    once(child, 'message').then(([message]) => (message as { url: string }).url),
    exited.then(() => null),
  ]);
  return {
    url,
    exited,
    said: () => said,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

describe('HEADWAY_SIGNATURE_RULES', () => {
  it('decides what output means, and the signature says so', async () => {
    const file = await fileOf(
      'rules.json',
      JSON.stringify({ rules: [{ id: 'migration', pattern: '^migration (?P<key>\\S+) stuck' }] }),
    );
    const ingest = await startWith(file);
    try {
      expect(ingest.url).not.toBeNull();
      await eventually(async () => (await fetch(`${ingest.url}/readyz`)).ok, { what: 'readiness', within: 30_000 });
      const answer = await fetch(`${ingest.url}/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json' },
        body: JSON.stringify({
          specversion: '1.0',
          id: 'a',
          source: 'test',
          subject: 'W-1',
          type: 'headway.gate.attempted',
          data: { gate: 'db', outcome: 'failed', output: 'migration 0042_users stuck after 12 s\n' },
        }),
      });
      expect(answer.status).toBeLessThan(300);
    } finally {
      await ingest.stop();
    }
    const log = await connectJetStreamLog({ servers: nats.url, name: 'test' });
    const [event] = await eventsOf(log);
    await log.close();
    expect(event?.data).toMatchObject({
      failures: [{ key: 'migration: 0042_users' }],
      signature: {
        version: SIGNATURE_VERSION,
        value: signatureOf('db', ['migration: 0042_users']),
        rules: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    });
  }, 60_000);

  it.each([
    ['broken.json', '{"rules": [{"id": "x", "pattern": "("}]}', '/rules/0/pattern'],
    ['greedy.json', '{"rules": [{"id": "x", "pattern": "a*"}]}', 'matches every line'],
    ['no.json', 'not JSON', 'A file of rules is JSON'],
  ])('that cannot be used keep it from starting: %s', async (name, text, detail) => {
    const ingest = await startWith(await fileOf(name, text));
    expect(ingest.url).toBeNull();
    expect(await ingest.exited).not.toBe(0);
    expect(ingest.said()).toContain('invalid_rules');
    expect(ingest.said()).toContain(detail);
  });

  it('that is not there keeps it from starting', async () => {
    const ingest = await startWith(join(folder, 'absent.json'));
    expect(ingest.url).toBeNull();
    expect(await ingest.exited).not.toBe(0);
    expect(ingest.said()).toContain('invalid_rules: the file cannot be read (ENOENT)');
  });
});

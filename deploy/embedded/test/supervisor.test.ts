import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../src/waiting.ts';
import {
  allGone,
  cleanUp,
  membersOf,
  type StartOptions,
  scratchFolder,
  startFailing,
  startHeadway,
  type UnderTest,
} from './headway-under-test.ts';

// Each test starts real servers, some of them several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const SOON_MS = 30_000;
const scratch = scratchFolder();
const data = join(scratch, 'data');
const started: UnderTest[] = [];

async function start(options: Partial<StartOptions> = {}): Promise<UnderTest> {
  const headway = await startHeadway({ data, ...options });
  started.push(headway);
  return headway;
}

async function endOf({ child }: UnderTest): Promise<[number | null, NodeJS.Signals | null]> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return [child.exitCode, child.signalCode];
}

async function interrupt(headway: UnderTest): Promise<void> {
  headway.child.kill('SIGINT');
  expect(await endOf(headway)).toEqual([0, null]);
}

async function text(url: string, init?: RequestInit): Promise<string> {
  return (await fetch(url, init)).text();
}

afterAll(() => cleanUp(started, scratch));

describe('a supervisor with fake services', () => {
  let headway: UnderTest;
  beforeAll(async () => {
    headway = await start();
  });

  test('forwards by the routing table and gives the services what they need', async () => {
    expect(await text(`${headway.url}/v1/events`, { method: 'POST', body: '{}' })).toBe('ingest');
    expect(await text(`${headway.url}/v1/events`)).toBe('projection');
    const env = JSON.parse(await text(`${headway.url}/env`)) as Record<string, string>;
    expect(env).toMatchObject({
      HEADWAY_HOST: '127.0.0.1',
      HEADWAY_PUBLIC_URL: headway.url,
      HEADWAY_OPERATOR_TOKEN_FILE: join(data, 'operator-token'),
      HEADWAY_LOG_LEVEL: 'info',
    });
    // The services get in as a user of their own; what is printed is for everybody.
    expect(env.HEADWAY_NATS_URL?.replace(/\/\/projection:[\w-]{43}@/, '//')).toBe(headway.natsUrl);
    expect(env.HEADWAY_POSTGRES_URL).toMatch(/^postgres:\/\/projection:[\w-]{43}@127\.0\.0\.1:\d+\/headway$/);
  });

  test('keeps the operator token in a file of its owner only', () => {
    const file = join(data, 'operator-token');
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('shows warnings on the terminal and everything in the log', () => {
    expect(headway.output()).toContain('[ingest] warning: ingest warns');
    expect(headway.output()).not.toContain('ingest listens');
    expect(readFileSync(join(data, 'logs', 'ingest.log'), 'utf8')).toContain('ingest listens');
  });

  test('refuses a second copy on the same data folder and says what to do', async () => {
    const { code, output } = await startFailing({ data });
    expect(code).toBe(1);
    expect(output).toContain(
      `another Headway already uses the data folder ${data} (process ${headway.child.pid}, ${headway.url})`,
    );
    expect(output).toContain('HEADWAY_DATA_DIR');
    expect(await text(`${headway.url}/`)).toBe('projection');
  });

  test('starts a crashed service again and says so', async () => {
    const before = await text(`${headway.url}/pid`);
    // It broke off, or was asked once more on a new connection when nobody was there any longer.
    expect([502, 503]).toContain((await fetch(`${headway.url}/crash`)).status);
    const after = await until(async () => {
      const response = await fetch(`${headway.url}/pid`);
      return response.status === 200 ? response.text() : undefined;
    }, SOON_MS);
    expect(after).toMatch(/^\d+$/);
    expect(after).not.toBe(before);
    expect(headway.output()).toContain('projection ended with exit code 9; starting it again');
  });

  test.each(['nats-server', 'postgres'])('starts a killed %s again at the same address', async (name) => {
    const before = headway.groups()[name] ?? 0;
    process.kill(-before, 'SIGKILL');
    const after = await until(() => {
      const group = headway.groups()[name];
      return group !== undefined && group !== before ? group : undefined;
    }, SOON_MS);
    expect(after).toBeGreaterThan(0);
    const log = join(data, 'logs', `${name}.log`);
    const ready = name === 'postgres' ? /database system is ready to accept connections/g : /Server is ready/g;
    const twice = () => ((readFileSync(log, 'utf8').match(ready)?.length ?? 0) >= 2 ? true : undefined);
    expect(await until(twice, SOON_MS)).toBe(true);
  });

  test('stops everything on an interrupt, and starts again with the same token, address and data', async () => {
    const groups = Object.values(headway.groups());
    expect(membersOf(groups).length).toBeGreaterThanOrEqual(4);
    const token = readFileSync(join(data, 'operator-token'), 'utf8');
    await interrupt(headway);
    expect(membersOf(groups)).toEqual([]);

    const again = await start();
    expect(again.natsUrl).toBe(headway.natsUrl);
    expect(readFileSync(join(data, 'operator-token'), 'utf8')).toBe(token);
    expect(again.output()).not.toContain('first start only');
    await interrupt(again);
  });
});

describe('a supervisor that ends badly', () => {
  test('leaves nothing running when it is killed, and the next one starts on the same data', async () => {
    const headway = await start();
    const groups = Object.values(headway.groups());
    headway.child.kill('SIGKILL');
    const again = await start();
    expect(await allGone(groups)).toBe(true);
    await interrupt(again);
  });

  test('leaves nothing running when a service that hears nothing is among what it started', async () => {
    const headway = await start({ env: { FAKE_SERVICES: 'projection,deaf' } });
    const groups = Object.values(headway.groups());
    headway.child.kill('SIGKILL');
    expect(await allGone(groups)).toBe(true);
  });

  test('leaves nothing running when the program that started it is killed', async () => {
    const headway = await start({ program: 'fake-start.mjs' });
    const groups = Object.values(headway.groups());
    const { pid } = JSON.parse(readFileSync(join(data, 'running.json'), 'utf8')) as { pid: number };
    headway.child.kill('SIGKILL');
    expect(await allGone([...groups, pid])).toBe(true);
  });

  test('starts although a pid file of Postgres names a process that is now something else', async () => {
    const other = spawn('sleep', ['300'], process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {});
    writeFileSync(
      join(data, 'postgres', 'cluster', 'postmaster.pid'),
      `${other.pid}\n/nowhere\n1\n5432\n\n127.0.0.1\n`,
    );
    try {
      await interrupt(await start());
      expect(other.exitCode ?? other.signalCode).toBe(null);
    } finally {
      other.kill('SIGKILL');
    }
  });
});

describe('an interrupt', () => {
  test('that reaches the whole process group stops everything once', async () => {
    const headway = await start({ program: 'fake-start.mjs' });
    const groups = Object.values(headway.groups());
    process.kill(-(headway.child.pid ?? 0), 'SIGINT');
    expect(await endOf(headway)).toEqual([0, null]);
    expect(membersOf(groups)).toEqual([]);
    expect(headway.output()).toContain('headway: stopped');
  });

  test('pressed again kills what is slow', async () => {
    const headway = await start({ env: { FAKE_SERVICES: 'projection,deaf' } });
    const groups = Object.values(headway.groups());
    headway.child.kill('SIGINT');
    expect(await until(() => (headway.output().includes('stopping (once more') ? true : undefined), SOON_MS)).toBe(
      true,
    );
    // A second press within a moment counts as the same one, so it is repeated until it counts.
    const pressed = setInterval(() => headway.child.kill('SIGINT'), 300);
    expect(await endOf(headway)).toEqual([0, null]);
    clearInterval(pressed);
    expect(await allGone(groups)).toBe(true);
  });
});

describe('a start that cannot succeed', () => {
  test('says which job failed and with what output, and leaves nothing running', async () => {
    const { code, output } = await startFailing({ data, env: { FAKE_JOB: 'fails' } });
    expect(code).toBe(1);
    expect(output).toContain('job failed with exit code 3');
    expect(output).toContain('the fake job found something wrong');
    const record = readFileSync(join(data, 'processes.json'), 'utf8');
    expect(JSON.parse(record)).toEqual({});
  });

  test('says that a port asked for by name is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, output } = await startFailing({ data, env: { HEADWAY_PORT: String(port) } });
    other.close();
    expect(code).toBe(1);
    expect(output).toContain(`port ${port} of 127.0.0.1 is taken`);
  });
});

test('two copies on two data folders run beside each other', async () => {
  const [one, other] = await Promise.all([start(), start({ data: join(scratch, 'second') })]);
  expect(other.url).not.toBe(one.url);
  expect(other.natsUrl).not.toBe(one.natsUrl);
  await interrupt(one);
  expect(await text(`${other.url}/`)).toBe('projection');
  await interrupt(other);
});

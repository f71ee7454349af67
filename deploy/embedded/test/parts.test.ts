import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { BUS_USERS } from '@headway/bus-users';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { groupLives, startGuarded } from '../src/guarded.ts';
import { keepRunning } from '../src/keep-running.ts';
import { processRecord } from '../src/leftovers.ts';
import { lockFolder } from '../src/lock.ts';
import { eachLine, forTerminal, logFile } from '../src/logs.ts';
import { canSyncAlways, natsConfiguration } from '../src/nats.ts';
import { freePort, rememberedPorts } from '../src/ports.ts';
import { removeStalePidFile } from '../src/postgres.ts';
import { NOBODY, postgresPlace } from '../src/postgres-place.ts';
import { until } from '../src/waiting.ts';

const SOON_MS = 20_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headway parts '));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a guarded program', () => {
  test('is asked to end, and killed where it does not', async () => {
    const polite = startGuarded('/bin/sh', ['-c', 'trap "exit 5" TERM; echo up; while :; do sleep 0.1; done']);
    await new Promise((resolve) => polite.stdout.once('data', resolve));
    await polite.stop();
    expect(await polite.exited).toEqual({ code: 5 });

    const deaf = startGuarded('/bin/sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.1; done'], {
      patienceMs: 400,
    });
    await new Promise((resolve) => deaf.stdout.once('data', resolve));
    await deaf.stop();
    expect(await deaf.exited).toEqual({ code: 137 });
  });

  test('tells its own exit code, and leaves no guard behind', async () => {
    const program = startGuarded('/bin/sh', ['-c', 'exit 6']);
    expect(await program.exited).toEqual({ code: 6 });
    expect(await until(() => (groupLives(program.group) ? undefined : true), SOON_MS)).toBe(true);
  });

  test('that does not exist ends at once', async () => {
    expect((await startGuarded('/nowhere/program', []).exited).code).toBeGreaterThan(0);
  });
});

test('a program whose launch fails is launched again, and says why', async () => {
  const said: string[] = [];
  let launches = 0;
  const kept = keepRunning({
    name: 'ingest',
    log: logFile(folder, 'ingest'),
    record: processRecord(folder),
    terminal: { say: (line) => void said.push(line), print: () => {} },
    showWarnings: false,
    launch: async () => {
      launches += 1;
      if (launches === 1) throw new Error('no free port');
      return startGuarded('sleep', ['60']);
    },
  });
  kept.started();
  expect(await until(() => (kept.running() ? true : undefined), SOON_MS)).toBe(true);
  await kept.stop();
  expect(said.join('\n')).toContain('ingest could not be started (no free port); starting it again');
});

describe('the record of processes', () => {
  test('kills nothing that only has the same number', async () => {
    const other = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const started = 'another boot 1';
    writeFileSync(join(folder, 'processes.json'), JSON.stringify({ ingest: { group: other.pid, started } }));
    expect(await processRecord(folder).clear()).toEqual([]);
    expect(groupLives(other.pid)).toBe(true);
    other.kill('SIGKILL');
  });

  test('of an earlier run is waited for until it is gone', async () => {
    const program = startGuarded('sleep', ['60']);
    processRecord(folder).add('ingest', program.group);
    const cleared = processRecord(folder).clear();
    await program.stop();
    expect(await cleared).toEqual([]);
  });

  test('that was half written counts as empty', async () => {
    writeFileSync(join(folder, 'processes.json'), '{"ingest": {"gro');
    expect(await processRecord(folder).clear()).toEqual([]);
  });
});

test('a folder has one holder at a time', async () => {
  const first = await lockFolder(folder, () => ' (process 1)');
  await expect(lockFolder(folder, () => ' (process 1)')).rejects.toThrow('already uses the data folder');
  await first.release();
  await (await lockFolder(folder, () => '')).release();
});

test('a port is remembered until another program has it', async () => {
  const ports = rememberedPorts(folder);
  const first = await ports.choose('nats');
  expect(await rememberedPorts(folder).choose('nats')).toBe(first);
  const { promise, resolve } = Promise.withResolvers<void>();
  const { createServer } = await import('node:net');
  const other = createServer().listen(first, '127.0.0.1', resolve);
  await promise;
  expect(await ports.choose('nats')).not.toBe(first);
  other.close();
  expect(await freePort()).toBeGreaterThan(0);
});

describe('logs', () => {
  test('have a bounded size: the older half is one file aside', () => {
    const log = logFile(folder, 'ingest', 100);
    for (let line = 0; line < 30; line++) log.write(`line ${line} ..........`);
    expect(statSync(log.path).size).toBeLessThanOrEqual(100);
    expect(statSync(`${log.path}.1`).size).toBeLessThan(130);
    expect(readFileSync(`${log.path}.1`, 'utf8') + readFileSync(log.path, 'utf8')).toContain('line 29');
    expect(log.lastLines().split('\n')).toHaveLength(20);
  });

  test('show warnings, errors and what is no log line', () => {
    expect(forTerminal('{"level":30,"msg":"fine"}')).toBeUndefined();
    expect(forTerminal('{"level":40,"msg":"slow"}')).toBe('warning: slow');
    expect(forTerminal('{"level":50,"msg":"failed","err":{"message":"no disk"}}')).toBe('error: failed: no disk');
    expect(forTerminal('Segmentation fault')).toBe('Segmentation fault');
    expect(forTerminal('null')).toBe('null');
    expect(forTerminal('  ')).toBeUndefined();
  });

  test('are split into lines wherever the chunks end, in the middle of a letter too', async () => {
    const lines: string[] = [];
    const bytes = Buffer.from('one\nzwölf\nrest');
    const stream = Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]);
    eachLine(stream, (line) => lines.push(line));
    await new Promise((resolve) => stream.once('end', resolve));
    expect(lines).toEqual(['one', 'zwölf', 'rest']);
  });
});

test('nats-server is told to write before it acknowledges where its version can', () => {
  expect(
    [
      [2, 9, 10],
      [2, 10, 0],
      [2, 15, 1],
      [3, 0, 0],
    ].map(canSyncAlways),
  ).toEqual([false, true, true, true]);
  const options = {
    port: 4222,
    serverName: 'x',
    storeFolder: '/a "b"',
    passwords: new Map(BUS_USERS.map((user) => [user, `secret of ${user}`])),
  };
  expect(natsConfiguration({ ...options, syncAlways: true })).toContain('sync_interval: always');
  expect(natsConfiguration({ ...options, syncAlways: false })).not.toContain('sync_interval');
  expect(natsConfiguration({ ...options, syncAlways: true })).toContain('store_dir: "/a \\"b\\""');
});

describe("Postgres' pid file", () => {
  const put = (pid: number): string => {
    writeFileSync(join(folder, 'postmaster.pid'), `${pid}\n${folder}\n`);
    return join(folder, 'postmaster.pid');
  };

  test('is removed where it names a process that is gone, or one that is something else', () => {
    const gone = spawnSync('true').pid;
    for (const pid of [gone, process.pid]) {
      const file = put(pid);
      removeStalePidFile(folder);
      expect(existsSync(file)).toBe(false);
    }
  });

  test('stays where it names a process at work in that cluster', () => {
    const server = spawn('sleep', ['60'], { cwd: folder });
    const file = put(server.pid ?? 0);
    removeStalePidFile(folder);
    expect(existsSync(file)).toBe(true);
    server.kill('SIGKILL');
  });
});

test("Postgres' data is where its user can reach it", () => {
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o711 });
  chmodSync(folder, 0o700);
  const closed = postgresPlace(data, true);
  chmodSync(folder, 0o711);
  const open = postgresPlace(data, true);
  expect(open).toMatchObject({ folder: join(data, 'postgres'), notes: [] });
  if (process.getuid?.() === 0) {
    expect(open.user).toEqual(NOBODY);
    expect(closed.folder).toMatch(/^\/var\/lib\/headway\/[0-9a-f]{16}$/);
    expect(closed.notes.join()).toContain(closed.folder);
    rmSync(closed.folder, { recursive: true });
  } else {
    expect(closed).toEqual(open);
  }
});

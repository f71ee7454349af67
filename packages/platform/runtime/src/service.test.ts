import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const fixture = fileURLToPath(new URL('./service.fixture.ts', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
});

/** Starts the fixture; `up` is when it announced itself, `end` has its exit and its log messages. */
function start(behaviour: string, channel = false) {
  const child = spawn(process.execPath, [fixture], {
    env: { ...process.env, FIXTURE: behaviour, HEADWAY_LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    stdio: ['ignore', 'pipe', 'inherit', ...(channel ? (['ipc'] as const) : [])],
  });
  children.push(child);
  const up = Promise.withResolvers<void>();
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
    if (output.includes('"msg":"up"')) up.resolve();
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const drained = new Promise<void>((resolve) => child.stdout?.on('end', resolve));
  // Not the event `close`: with a channel to the child that the parent closed it never comes.
  const end = Promise.all([exited, drained]).then(([code]) => {
    up.resolve();
    const log = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; reason?: string });
    return { code, log };
  });
  return { child, up: up.promise, end };
}
const messages = (log: { msg: string }[]) => log.map((line) => line.msg);

it.each(['SIGTERM', 'SIGINT'] as const)('closes in reverse order on %s and exits with 0', async (signal) => {
  const { child, up, end } = start('');
  await up;
  child.kill(signal);
  const { code, log } = await end;
  expect(code).toBe(0);
  expect(messages(log)).toEqual(['up', 'stopping', 'closed third', 'closed second', 'closed first', 'stopped']);
});

it('ends when its parent is gone, having told it that it is up', async () => {
  const { child, up, end } = start('', true);
  const told = new Promise((resolve) => child.once('message', resolve));
  await up;
  expect(await told).toEqual({ service: 'fixture', up: true, url: 'http://127.0.0.1:1' });
  child.disconnect();
  const { code, log } = await end;
  expect(code).toBe(0);
  expect(log.find((line) => line.msg === 'stopping')?.reason).toBe('the parent process is gone');
});

it('goes on closing after a closer that breaks', async () => {
  const { child, up, end } = start('close-breaks');
  await up;
  child.kill('SIGTERM');
  const { code, log } = await end;
  expect(code).toBe(0);
  expect(messages(log)).toContain('closed first');
});

it('does not wait for ever for a closer, and names it', async () => {
  const { child, up, end } = start('close-hangs');
  await up;
  child.kill('SIGTERM');
  const { code, log } = await end;
  expect(code).toBe(1);
  expect(log.at(-1)).toMatchObject({ msg: 'closing took too long', open: ['first', 'second'] });
});

it('ends at once on a second signal', async () => {
  const { child, up, end } = start('close-hangs');
  await up;
  child.kill('SIGTERM');
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  child.kill('SIGTERM');
  expect((await end).code).toBe(143);
});

it.each([
  ['throws', 'nobody caught an error'],
  ['rejects', 'nobody caught an error'],
  ['start-breaks', 'the service could not start'],
  ['fails', 'the service cannot go on'],
])('exits with 1 when it %s, and says why', async (behaviour, message) => {
  const { code, log } = await start(behaviour).end;
  expect(code).toBe(1);
  expect(messages(log)).toContain(message);
});

it('closes what was open when it could not start', async () => {
  const { log } = await start('start-breaks').end;
  expect(messages(log)).toEqual(expect.arrayContaining(['closed second', 'closed first', 'stopped']));
});

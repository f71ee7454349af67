import type { SignalView } from '@headway/contracts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeApi } from './fake-api.ts';
import { headway, scratchFolder } from './scratch.ts';

let api: Awaited<ReturnType<typeof startFakeApi>>;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.stop());

const cli = () => headway({ url: api.url, state: scratchFolder() });
const signal = (id: string, over: Partial<SignalView> = {}): SignalView => ({
  signal: id.padEnd(64, '0'),
  kind: 'stagnating',
  state: 'open',
  works: ['W-1'],
  incarnation: 1,
  rule: 'same-failure',
  gate: 'test',
  signature: null,
  count: 3,
  reason: 'the same \x1b[31mfailure',
  to: ['lead', 'agent'],
  raisedAt: '2026-01-01T00:00:00Z',
  closedAt: null,
  closing: null,
  ...over,
});
const acknowledged = signal('bbbbbb', { state: 'acknowledged', closing: { from: 'lead', intent: 'AGREE' } });

describe('signal list', () => {
  test('shows the open ones first, in one line each, without control characters', async () => {
    api.state.signals = [acknowledged, signal('aaaaaa', { works: ['W-1', 'W-2', 'W-3', 'W-4', 'W-5'] })];
    const ran = await cli().run(['signal', 'list', '--all']);
    const lines = ran.stdout.toString().trimEnd().split('\n');
    expect(ran.code).toBe(0);
    expect(lines[1]).toMatch(
      /^aaaaaa000000 +open +stagnating +W-1, W-2, W-3 and 2 more .*lead, agent +the same \[31mfailure$/,
    );
    expect(lines[2]).toMatch(/^bbbbbb000000 +acknowledged/);
    // oxlint-disable-next-line no-control-regex -- that none is there
    expect(ran.stdout.toString()).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });

  test('asks for what it was told to, and for open ones where nothing else is said', async () => {
    const asked = async (...args: string[]) => {
      await cli().run(['signal', 'list', ...args]);
      return new URL(api.state.requests.at(-1)?.url ?? '', api.url).searchParams;
    };
    expect(Object.fromEntries(await asked())).toMatchObject({ state: 'open' });
    const inbox = await asked('--to', 'lead', '--kind', 'thrashing', '--work', 'W-1', '--state', 'withdrawn');
    expect(Object.fromEntries(inbox)).toMatchObject({ to: 'lead', kind: 'thrashing', work: 'W-1', state: 'withdrawn' });
    expect((await asked('--all')).has('state')).toBe(false);
  });

  test('says that there is none', async () => {
    const ran = await cli().run(['signal', 'list']);
    expect(ran.stdout.toString()).toContain('No signal is open.');
    const json = await cli().run(['signal', 'list', '--json']);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ signals: [], next: null });
  });
});

test('signal show tells how to answer an open one, and who answered another', async () => {
  api.state.signals = [signal('aaaaaa'), acknowledged];
  const open = await cli().run(['signal', 'show', 'aaaaaa']);
  expect(open.stdout.toString()).toContain('headway ack aaaaaa000000 --agree --as lead');
  expect(open.stdout.toString()).toContain('headway recover W-1');
  const closed = await cli().run(['signal', 'show', 'bbbbbb']);
  expect(closed.stdout.toString()).toContain('State: acknowledged by lead (AGREE)');
  expect(closed.stdout.toString()).not.toContain('headway ack');
  expect((await cli().run(['signal', 'show', 'cccccc'])).code).toBe(3);
});

test('signal send is a message, and no way round ack', async () => {
  const send = (intent: string) =>
    cli().run(['signal', 'send', 'W-1', '--intent', intent, '--as', 'lead', '--to', 'agent', '--text', 'hold on']);
  expect((await send('PROPOSE')).code).toBe(0);
  expect(api.state.events.at(-1)).toMatchObject({
    type: 'headway.signal.sent',
    data: { intent: 'PROPOSE', from: 'lead', to: ['agent'], inReplyTo: null },
  });
  const agree = await send('AGREE');
  expect(agree.code).toBe(2);
  expect(agree.stderr.toString()).toContain('headway ack');
});

test('watch tells who acknowledged', async () => {
  api.state.stream = [`id: 1\nevent: signal\ndata: ${JSON.stringify(acknowledged)}\n\n`];
  const child = cli().start('watch');
  let out = '';
  await new Promise((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      child.kill('SIGINT');
    });
    child.on('close', resolve);
  });
  expect(out).toMatch(/^W-1 signal stagnating acknowledged by lead \(AGREE\)/);
});

test('policy set says what is wrong before it asks anybody', async () => {
  for (const [args, said] of [
    [['--set', 'sameFailure=1'], 'from 2 to 100'],
    [['--set', 'sameFailure=3.5'], 'whole number'],
    [['--set', 'speed=3'], 'speed is no number of a policy'],
    [[], 'what is to be set'],
  ] as const) {
    const ran = await cli().run(['policy', 'set', '--why', 'x', ...args]);
    expect(ran.code).toBe(2);
    expect(ran.stderr.toString()).toContain(said);
  }
  expect(api.state.requests).toEqual([]);
});

test('demo says how to start the product where there is none', async () => {
  const ran = await headway({ url: 'http://127.0.0.1:9', state: scratchFolder() }).run(['demo', '--pace', '0']);
  expect(ran.code).toBe(5);
  expect(ran.stderr.toString()).toContain('headway up');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalView, WorkView } from '@headway/contracts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeApi } from './fake-api.ts';
import { headway, scratchFolder, scratchRepository } from './scratch.ts';

let api: Awaited<ReturnType<typeof startFakeApi>>;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.stop());

const cli = (options: { cwd?: string; url?: string; env?: NodeJS.ProcessEnv; state?: string } = {}) =>
  headway({ url: api.url, state: scratchFolder(), ...options });

const view = (work: string, is: WorkView['class'], reason = 'because'): WorkView => ({
  work,
  worker: 'worker-1',
  orchestrator: null,
  lane: null,
  incarnation: 1,
  phase: 'claimed',
  class: is,
  assessment: { gate: 'test', reason } as WorkView['assessment'],
  since: '2026-01-01T00:00:00Z',
  attempts: 3,
  costUsd: null,
  openSignal: null,
  updatedAt: '2026-01-01T00:00:00Z',
  change: 1,
});
const signal = (id: string, to: string[]): SignalView => ({
  signal: id,
  kind: 'stagnating',
  state: 'open',
  works: ['W-1'],
  incarnation: 1,
  rule: 'same-failure',
  gate: 'test',
  signature: null,
  count: 3,
  reason: 'the same failure',
  to,
  raisedAt: '2026-01-01T00:00:00Z',
  closedAt: null,
  closing: null,
});

describe('status', () => {
  test('shows what needs a person first, without colours or control characters in a pipe', async () => {
    api.state.works = [
      view('good', 'productive'),
      view('stuck', 'stagnating', 'same \x1b[31mfailure'),
      view('slow', 'slow'),
    ];
    const ran = await cli().run(['status']);
    expect(ran.code).toBe(0);
    const lines = ran.stdout.toString().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^WORK +AGENT +CLASS +ATTEMPTS +GATE +REASON +SINCE$/);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(['stuck', 'slow', 'good']);
    expect(ran.stdout.toString()).not.toContain('\x1b');
  });

  test('of an empty fleet says what to do next; --json has a stable shape', async () => {
    expect((await cli().run(['status'])).stdout.toString()).toContain('headway gate test --work W-1 --');
    const ran = await cli().run(['status', '--json']);
    expect(JSON.parse(ran.stdout.toString())).toEqual({ position: 'EVIDENCE:1:9', works: [] });
  });

  test('after a gate it covers that gate; when the view lags it says so, unless the position was asked for', async () => {
    const here = cli({ env: { HEADWAY_WORK: 'W-1' } });
    await here.run(['gate', 'test', '--', 'true']);
    await here.run(['status']);
    await here.run(['brief', 'W-1']);
    const asked = api.state.requests.map((request) => request.url).filter((url) => !url.startsWith('/v1/events'));
    expect(asked.every((url) => url.includes('after=EVIDENCE%3A1%3A1'))).toBe(true);
    api.state.behind = true;
    const lagging = await here.run(['status']);
    expect(lagging.code).toBe(0);
    expect(lagging.stderr.toString()).toContain('not in this view yet');
    expect((await here.run(['status', '--after', 'EVIDENCE:1:5'])).code).toBe(5);
  });

  test('sends the token and the tenant, and says in one line when nobody answers', async () => {
    await cli({ env: { HEADWAY_TOKEN: 'secret', HEADWAY_TENANT: 'blue' } }).run(['status']);
    expect(api.state.requests.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'headway-tenant': 'blue',
    });
    const away = await cli({ url: 'http://127.0.0.1:9' }).run(['status']);
    expect(away.code).toBe(5);
    expect(away.stderr.toString()).toMatch(/^headway: .*headway up.*HEADWAY_URL.*\n$/);
    expect((await cli({ url: 'nonsense' }).run(['status'])).code).toBe(2);
  });
});

test('brief prints the markdown as it is; --json wraps it', async () => {
  api.state.brief = '# Trajectory redirect\n';
  expect((await cli().run(['brief', 'W-1'])).stdout.toString()).toBe('# Trajectory redirect\n');
  expect(JSON.parse((await cli().run(['brief', 'W-1', '--json'])).stdout.toString())).toEqual({
    work: 'W-1',
    brief: '# Trajectory redirect\n',
  });
});

describe('ack', () => {
  test('answers on the thread of the signal, as its only recipient', async () => {
    api.state.signals = [signal('abcdef123456', ['lead'])];
    const ran = await cli().run(['ack', 'abcdef12', '--agree', '--text', 'on it']);
    expect(ran.code).toBe(0);
    expect(ran.stdout.toString()).toBe('W-1: answer sent\nsignal abcdef123456: acknowledged\n');
    expect(api.state.events[0]).toMatchObject({
      type: 'headway.signal.sent',
      subject: 'W-1',
      data: { thread: 'abcdef123456', inReplyTo: 'abcdef123456', intent: 'AGREE', from: 'lead', text: 'on it' },
    });
  });

  test('says so when the answer acknowledges nothing, and when nobody can answer', async () => {
    api.state.signals = [signal('abcdef123456', ['lead']), signal('fedcba654321', [])];
    const stranger = await cli().run(['ack', 'abcdef12', '--agree', '--as', 'passer-by']);
    expect(stranger.code).toBe(3);
    expect(stranger.stderr.toString()).toMatch(/still open: passer-by/);
    const unclaimed = await cli().run(['ack', 'fedcba65', '--agree']);
    expect(unclaimed.code).toBe(3);
    expect(unclaimed.stderr.toString()).toMatch(/not claimed/);
    expect(api.state.events).toHaveLength(1);
  });

  test('asks who answers where there are several recipients, and for one of --agree and --reject', async () => {
    api.state.signals = [signal('abcdef123456', ['lead', 'worker-1'])];
    const whom = await cli().run(['ack', 'abcdef123456', '--reject']);
    expect(whom.code).toBe(2);
    expect(whom.stderr.toString()).toMatch(/lead, worker-1.*--as/);
    expect((await cli().run(['ack', 'abcdef123456'])).code).toBe(2);
    expect((await cli().run(['ack', 'unknown-id', '--agree'])).code).toBe(3);
    expect((await cli().run(['ack', 'abcdef123456', '--reject', '--as', 'worker-1'])).code).toBe(0);
    expect(api.state.events.map((event) => event.data.intent)).toEqual(['REJECT']);
    expect(api.state.events[0]?.data.to).toEqual(['lead']);
  });
});

describe('work', () => {
  test('a claim names the base, and the gates of the work are measured against it', async () => {
    const { root, git, write, commit } = scratchRepository();
    const here = cli({ cwd: root });
    const claim = [
      'work',
      'claim',
      'W-1',
      '--worker',
      'me',
      '--orchestrator',
      'lead',
      '--criterion',
      'a',
      '--criterion',
      'b',
      '--gate-attempts',
      '4',
    ];
    expect((await here.run(claim)).code).toBe(0);
    const base = git('rev-parse', 'HEAD');
    write('a.txt', 'x\n');
    commit();
    const ran = await here.run(['gate', 'test', '--work', 'W-1', '--json', '--', 'true']);
    expect(ran.summary().base).toEqual({ revision: base, from: 'claim' });
    expect(api.state.events[0]?.data).toEqual({
      worker: 'me',
      orchestrator: 'lead',
      base,
      criteria: ['a', 'b'],
      sizing: { gateAttempts: 4 },
    });
  });

  test('the rest of its life', async () => {
    const here = cli();
    for (const args of [
      ['checkpoint', 'W-1', '--note', 'n'],
      ['wake', 'W-1'],
      ['block', 'W-1', '--by', 'person', '--reason', 'r'],
      ['unblock', 'W-1'],
      ['release', 'W-1'],
      ['done', 'W-1', '--criteria-met', '2'],
    ])
      expect((await here.run(['work', ...args])).code).toBe(0);
    expect(api.state.events.map((event) => [event.type, event.data])).toEqual([
      ['headway.checkpoint.recorded', { by: 'worker', note: 'n', diff: null }],
      ['headway.wake.delivered', {}],
      ['headway.work.blocked', { by: 'person', reason: 'r' }],
      ['headway.work.unblocked', {}],
      ['headway.work.released', {}],
      ['headway.work.done', { criteriaMet: 2 }],
    ]);
    expect((await here.run(['work', 'claim', 'W-1'])).code).toBe(2);
    expect((await cli({ url: 'http://127.0.0.1:9' }).run(['work', 'wake', 'W-1'])).code).toBe(5);
  });
});

test('watch prints changes and goes on after an interruption', async () => {
  const block = (id: number, work: string) => `id: ${id}\nevent: work\ndata: ${JSON.stringify(view(work, 'slow'))}\n\n`;
  api.state.stream = [block(1, 'W-1'), block(2, 'W-2')];
  const child = cli().start('watch', '--json');
  let out = '';
  const code = await new Promise((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.split('\n').length > 2) child.kill('SIGINT');
    });
    child.on('close', resolve);
  });
  expect(code).toBe(0);
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).data.work),
  ).toEqual(['W-1', 'W-2']);
  const streams = api.state.requests.filter((request) => request.url.startsWith('/v1/stream'));
  expect(streams[1]?.headers['last-event-id']).toBe('1');
});

test('doctor tells each thing with what to do', async () => {
  const good = await cli().run(['doctor', '--json']);
  const { checks } = JSON.parse(good.stdout.toString()) as {
    checks: { check: string; state: string; advice: string }[];
  };
  expect(checks.map((check) => check.check)).toEqual([
    'node',
    'git',
    'server',
    'server version',
    'clock',
    'spool',
    'token',
  ]);
  expect(checks.filter((check) => check.state !== 'ok')).toEqual([]);
  const bad = await cli({ url: 'http://127.0.0.1:9', env: { HEADWAY_OPERATOR_TOKEN_FILE: '/nowhere' } }).run([
    'doctor',
  ]);
  expect(bad.code).toBe(5);
  expect(bad.stdout.toString()).toMatch(/fail server: .*HEADWAY_URL/);
  expect(bad.stdout.toString()).toMatch(/fail token: .*HEADWAY_OPERATOR_TOKEN_FILE/);
});

test('signature reads standard input without any server', async () => {
  const ran = await cli({ url: 'http://127.0.0.1:9' }).run(
    ['signature', '--gate', 'test', '--exit-code', '1'],
    '✔ a\n✖ b (3ms)\n',
  );
  expect(JSON.parse(ran.stdout.toString())).toEqual({
    outcome: 'failed',
    tool: 'node:test',
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    failures: [{ key: 'b', message: '✖ b (3ms)' }],
  });
  expect((await cli().run(['signature', '--gate', 'test'], '')).code).toBe(2);
});

describe('signature --explain', () => {
  const output = '✔ error: passes (1ms)\n✖ b (3ms)\nError: connect ECONNRESET 127.0.0.1:40112\n';
  const args = ['signature', '--gate', 'test', '--exit-code', '1', '--explain'];
  test('says who read each line that counted, its key and what was masked', async () => {
    const ran = await cli({ url: 'http://127.0.0.1:9' }).run(args, output);
    const text = ran.stdout.toString();
    expect(text).toMatch(/outcome {4}failed: the output names what fails/);
    expect(text).toMatch(/end {2}node:test {4}✖ b \(3ms\)\n {9}key {10}b\n/);
    expect(text).not.toContain('passes');
  });
  test('answers in JSON too', async () => {
    const masked = 'Error: connect ECONNRESET 127.0.0.1:40112\n';
    const ran = await cli({ url: 'http://127.0.0.1:9' }).run([...args, '--json'], masked);
    expect(JSON.parse(ran.stdout.toString())).toMatchObject({
      why: 'outage',
      lines: [{ line: 1, reader: 'masking', keys: ['Error: connect ECONNRESET 127.0.0.1:<port>'], masked: ['<port>'] }],
    });
  });
  test('takes rules of one’s own, and refuses those that cannot be used', async () => {
    const file = join(scratchFolder(), 'rules.json');
    writeFileSync(file, JSON.stringify({ rules: [{ id: 'db', pattern: 'migration (?P<key>\\S+) failed' }] }));
    const good = await cli({ url: 'http://127.0.0.1:9' }).run([...args, '--rules', file], 'migration 7 failed\n');
    expect(good.stdout.toString()).toMatch(/1 {2}rules {8}migration 7 failed\n {9}key {10}db: 7/);
    writeFileSync(file, '{"rules":[{"id":"db","pattern":"("}]}');
    const bad = await cli({ url: 'http://127.0.0.1:9' }).run([...args, '--rules', file], 'x\n');
    expect(bad.code).toBe(2);
    expect(bad.stderr.toString()).toMatch(/invalid_rules: .*\/rules\/0\/pattern/);
  });
});

describe('classify', () => {
  const attempt = (id: number, outcome = 'failed') => ({
    specversion: '1.0',
    id: `e${id}`,
    source: 'test',
    subject: 'W-1',
    type: 'headway.gate.attempted',
    data: { gate: 'test', outcome, failures: [{ key: 'adds' }], diff: { hash: 'd1' } },
  });
  const three = [attempt(1), attempt(2), attempt(3)];
  const lines = (ran: { stdout: Buffer }) =>
    ran.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, any>);
  const file = (content: string): string => {
    const path = join(scratchFolder(), 'input');
    writeFileSync(path, content);
    return path;
  };

  test.each([
    ['a case file', JSON.stringify({ name: 'n', events: three.map(({ type, data }) => ({ type, data })) }, null, 1)],
    ['a case file in one line', JSON.stringify({ events: three })],
    ['an array', JSON.stringify(three, null, 2)],
    ['NDJSON', three.map((event) => JSON.stringify(event)).join('\r\n\n')],
  ])('reads %s', async (_what, content) => {
    const ran = await cli().run(['classify', file(content)]);
    expect(ran.stderr.toString()).toBe('');
    expect(ran.code).toBe(0);
    expect(lines(ran)[0]).toMatchObject({
      work: 'W-1',
      class: 'stagnating',
      rule: 'same-failure',
      signal: 'open',
      done: false,
    });
    expect(lines(ran)[1]?.summary).toMatchObject({ events: 3, signals: 1, open: 1 });
  });

  test('tells what cannot be read by its number, skips it, and ends with 2', async () => {
    const content = [
      '{"broken',
      JSON.stringify(attempt(1)),
      'nonsense',
      JSON.stringify({ ...attempt(2), type: 'no.such' }),
      JSON.stringify(attempt(3)),
    ];
    const ran = await cli().run(['classify', '-'], content.join('\n'));
    expect(ran.code).toBe(2);
    expect(ran.stderr.toString()).toMatch(/line 1: .*\n.*line 3: .*\n.*line 4: /);
    expect(lines(ran)[0]).toMatchObject({ work: 'W-1', class: 'slow' });
  });

  test('--each prints after every event; nothing at all gives only the summary', async () => {
    const ran = await cli().run(['classify', '--each', '-'], three.map((event) => JSON.stringify(event)).join('\n'));
    expect(lines(ran).map((line) => line.class)).toEqual(['slow', 'slow', 'stagnating', undefined]);
    expect(lines(await cli().run(['classify', '-'], ''))).toEqual([
      { summary: expect.objectContaining({ events: 0 }) },
    ]);
    expect((await cli().run(['classify', '/nowhere'])).code).toBe(2);
  });
});

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEvent, UNCHANGED_DIFF } from '@headway/contracts';
import { readAttempt } from '@headway/signatures';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeApi } from './fake-api.ts';
import { headway, scratchFolder, scratchRepository } from './scratch.ts';

type Api = Awaited<ReturnType<typeof startFakeApi>>;
let api: Api;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.stop());

const shell = (script: string) => ['--', 'sh', '-c', script];
const cli = (options: { cwd?: string; url?: string; env?: NodeJS.ProcessEnv; state?: string } = {}) =>
  headway({ url: api.url, state: scratchFolder(), ...options });
const spooled = (state: string): string[] => {
  const folder = join(state, 'headway', 'spool');
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.json') && !name.includes('refused'));
};

describe('the gate comes through unchanged', () => {
  test('every byte of both streams, standard input and the exit code', async () => {
    const folder = scratchFolder();
    const bytes = randomBytes(3 * 1024 * 1024);
    writeFileSync(join(folder, 'bytes'), bytes);
    const ran = await cli({ cwd: folder }).run(
      ['gate', 'bytes', '--work', 'W-1', ...shell('cat bytes; cat >&2; exit 7')],
      Buffer.from([0, 255, 10, 13, 27, 91]),
    );
    expect(ran.code).toBe(7);
    expect(ran.stdout.equals(bytes)).toBe(true);
    expect(ran.stderr.equals(Buffer.from([0, 255, 10, 13, 27, 91]))).toBe(true);
  });

  test.each([
    ['success', 'exit 0', 0, 'passed'],
    ['a failure', 'echo "✖ adds"; exit 1', 1, 'failed'],
    ['a command that is missing inside', 'nosuchcommand', 127, 'errored'],
    ['a kill', 'echo "✖ adds"; kill -KILL $$', 137, 'errored'],
    ['a termination', 'kill -TERM $$', 143, 'errored'],
  ])('%s', async (_what, script, code, outcome) => {
    const ran = await cli().run(['gate', 'test', '--work', 'W-1', ...shell(script)]);
    expect(ran.code).toBe(code);
    expect(api.state.events[0]?.data).toMatchObject({ gate: 'test', outcome, stage: 'bare', exitCode: code });
  });

  test('a binary that is missing is errored with 127 and said, one that may not run with 126', async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, 'plain'), 'x', { mode: 0o644 });
    const missing = await cli().run(['gate', 'test', '--work', 'W-1', '--', 'nosuchcommand']);
    expect(missing.code).toBe(127);
    expect(missing.stderr.toString()).toBe('headway: gate test: there is no command nosuchcommand\n');
    const barred = await cli().run(['gate', 'test', '--work', 'W-1', '--', join(folder, 'plain')]);
    expect(barred.code).toBe(126);
    expect(api.state.events.map((event) => event.data.outcome)).toEqual(['errored', 'errored']);
  });

  test('a signal that only headway gets is passed on, and the report is still made', async () => {
    const child = cli().start(
      'gate',
      'test',
      '--work',
      'W-1',
      ...shell('trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.05; done'),
    );
    const said: string[] = [];
    const code = await new Promise((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        said.push(chunk.toString());
        if (said.join('') === 'ready\n') child.kill('SIGTERM');
      });
      child.on('close', resolve);
    });
    expect(code).toBe(9);
    expect(said.join('')).toBe('ready\ntold\n');
    expect(api.state.events).toHaveLength(1);
  });

  test('what the gate leaves running does not hold it', async () => {
    const ran = await cli().run(['gate', 'test', '--work', 'W-1', ...shell('sleep 600 & echo $!; exit 0')]);
    process.kill(Number(ran.stdout.toString()));
    expect(ran.code).toBe(0);
  });
});

describe('what is reported', () => {
  test('is a valid event with the failing set, the signature that ingest reads from it, times and a diff', async () => {
    const { root, git, write } = scratchRepository();
    write('a.txt', 'changed\n');
    const ran = await cli({ cwd: root, env: { HEADWAY_WORKER: 'worker-1' } }).run([
      'gate',
      'test',
      '--work',
      'W-1',
      '--stage',
      'done',
      '--incarnation',
      '3',
      '--json',
      ...shell('echo "✔ an error passes (1ms)"; echo "✖ adds (3.2ms)" >&2; exit 1'),
    ]);
    const event = readEvent(api.state.events[0]);
    if (!event.ok || event.value.type !== 'headway.gate.attempted') throw new Error('not a valid attempt');
    expect(event.value).toMatchObject({ subject: 'W-1', incarnation: 3 });
    expect(event.value.source).toMatch(/^headway-cli\/.+\/worker-1$/);
    expect(event.value.data).toMatchObject({
      stage: 'done',
      outcome: 'failed',
      failures: [{ key: 'adds' }],
      base: git('rev-parse', 'HEAD'),
      diff: { files: [{ path: 'a.txt' }], added: 1, removed: 2 },
    });
    expect(event.value.data.output).toContain('✔ an error passes');
    expect(ran.summary()).toMatchObject({
      outcome: 'failed',
      report: 'accepted',
      position: 'EVIDENCE:1:1',
      signature: readAttempt(event.value.data).signature.value,
      diffReason: null,
    });
  });

  test('the same failure has one signature and one diff state, and a commit of the change moves neither', async () => {
    const { root, write, commit } = scratchRepository();
    const here = cli({ cwd: root });
    const gate = () =>
      here.run(['gate', 'test', '--work', 'W-1', '--json', ...shell('date +%N; echo "✖ adds ($$.0ms)"; exit 1')]);
    const unchanged = (await gate()).summary();
    expect(unchanged.diff.hash).toBe(UNCHANGED_DIFF);
    write('a.txt', 'changed\n');
    const edited = (await gate()).summary();
    commit();
    const committed = (await gate()).summary();
    expect(edited.diff.hash).not.toBe(UNCHANGED_DIFF);
    expect(committed.diff).toEqual(edited.diff);
    expect(committed.signature).toBe(unchanged.signature);
  });

  test('outside a work tree the diff is null, with the reason', async () => {
    const ran = await cli().run(['gate', 'test', '--work', 'W-1', '--json', ...shell('exit 0')]);
    expect(ran.summary()).toMatchObject({ diff: null, diffReason: 'not a git work tree' });
    expect(api.state.events[0]?.data).toMatchObject({ diff: null });
  });

  test('without --work it is the folder and branch, which is said', async () => {
    const { root } = scratchRepository();
    const ran = await cli({ cwd: root }).run(['gate', 'test', ...shell('exit 0')]);
    const work = `${root.split('/').at(-1)}@main`;
    expect(ran.stderr.toString()).toContain(`the work is ${work}`);
    expect(api.state.events[0]?.subject).toBe(work);
  });

  test('of much output the beginning and the end are kept, within the limits of an event', async () => {
    await cli().run([
      'gate',
      'test',
      '--work',
      'W-1',
      ...shell(
        'echo first; head -c 3000000 /dev/urandom; echo; for i in $(seq 5000); do echo "✖ test $i is too long to be true"; done; echo last; exit 1',
      ),
    ]);
    const event = api.state.events[0];
    expect(readEvent(event).ok).toBe(true);
    expect(event?.data.output?.startsWith('first\n') && event.data.output.endsWith('last\n')).toBe(true);
    expect(Buffer.byteLength(event?.data.output)).toBeLessThanOrEqual(64 * 1024);
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(512 * 1024);
    expect(event?.data.failures).toHaveLength(2_000);
  });
});

describe('when the server is away', () => {
  test('the gate is as ever, one line says so, and the reports are sent in order before the next one', async () => {
    const state = scratchFolder();
    const { port } = api;
    await api.stop();
    const here = cli({ state, env: { HEADWAY_WORK: 'W-1' } });
    for (const gate of ['one', 'two', 'three']) {
      const ran = await here.run(['gate', gate, ...shell('exit 3')]);
      expect(ran.code).toBe(3);
      expect(ran.stderr.toString()).toMatch(/^headway: gate \w+: the report is kept and sent with the next one .*\n$/);
    }
    expect(spooled(state)).toHaveLength(3);
    api = await startFakeApi(port);
    await here.run(['gate', 'four', ...shell('exit 0')]);
    expect(api.state.events.map((event) => event.data.gate)).toEqual(['one', 'two', 'three', 'four']);
    expect(spooled(state)).toEqual([]);
  });

  test('an answer of 503 is waited out, and sending again makes nothing twice', async () => {
    const state = scratchFolder();
    const here = cli({ state, env: { HEADWAY_WORK: 'W-1' } });
    api.state.status = 503;
    expect((await here.run(['gate', 'one', ...shell('exit 0')])).code).toBe(0);
    api.state.status = null;
    await here.run(['gate', 'two', ...shell('exit 0')]);
    expect(api.state.events.map((event) => event.data.gate)).toEqual(['one', 'two']);
  });

  test('a report that is refused is set aside and does not hold up the others', async () => {
    const state = scratchFolder();
    const here = cli({ state, env: { HEADWAY_WORK: 'W-1' } });
    api.state.refuse = 'unwanted';
    const ran = await here.run(['gate', 'unwanted', ...shell('exit 4')]);
    expect(ran.code).toBe(4);
    expect(ran.stderr.toString()).toBe('headway: gate unwanted is not reported: This gate is not wanted.\n');
    await here.run(['gate', 'wanted', ...shell('exit 0')]);
    expect(api.state.events.map((event) => event.data.gate)).toEqual(['wanted']);
    expect(spooled(state)).toEqual([]);
  });

  test('a server that never answers does not hold the gate for ever', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const sockets = new Set<import('node:net').Socket>();
    silent.on('connection', (socket) => sockets.add(socket));
    const ran = await cli({ url: `http://127.0.0.1:${port}` }).run([
      'gate',
      'test',
      '--work',
      'W-1',
      ...shell('exit 6'),
    ]);
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(ran.code).toBe(6);
    expect(ran.stderr.toString()).toContain('no answer within');
  });

  test('a state folder that cannot be written still lets the report through', async () => {
    const file = join(scratchFolder(), 'file');
    writeFileSync(file, '');
    const ran = await cli({ env: { XDG_STATE_HOME: file } }).run(['gate', 'test', '--work', 'W-1', ...shell('exit 0')]);
    expect(ran.code).toBe(0);
    expect(api.state.events).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe('');
  });
});

test.each([
  [['gate', 'test', '--stage', 'maybe', '--', 'true'], /prep, done, bare/],
  [['gate', 'test', 'node', '--test'], /put the command after --/],
  [['gate', 'test', '--incarnation', 'x', '--', 'true'], /whole number/],
])('wrong use is told and nothing runs: %j', async (args, message) => {
  const ran = await cli().run(args);
  expect(ran.code).toBe(2);
  expect(ran.stderr.toString()).toMatch(message);
  expect(api.state.events).toEqual([]);
});

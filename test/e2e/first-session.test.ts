import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@headway/testkit';
import { findChromium, type OpenBrowser, openBrowser } from '@headway/testkit/browser';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Embedded, startEmbedded } from '../harness/embedded.ts';
import { run } from '../harness/run.ts';

const WRONG = 'export const sum = (a, b) => a - b;\n';
const RIGHT = 'export const sum = (a, b) => a + b;\n';
const TEST = `import assert from 'node:assert';
import test from 'node:test';
import { sum } from './sum.js';
test('adds two numbers', () => assert.equal(sum(1, 2), 3));
test('adds nothing', () => assert.equal(sum(0, 0), 0));
`;
/** Exit code of the test command, and one line on its standard error, so that both channels are seen. */
const GATE = ['sh', '-c', 'echo to-the-error-channel >&2; exec node --test --test-reporter=tap'];

const chromium = findChromium();
if (chromium === null)
  process.stderr.write(
    'the page is not looked at: there is no Chromium on this machine; set HEADWAY_CHROMIUM to one\n',
  );

describe('the first session', () => {
  let headway: Embedded;
  let repository: string;
  let nats: NatsConnection;
  const heard: { subject: string; event: { type: string; data: Record<string, unknown> } }[] = [];
  const headwayCommand = (...args: string[]) =>
    run(headway.commandLine, args, {
      cwd: repository,
      env: { HEADWAY_URL: headway.url, XDG_STATE_HOME: `${repository}-state` },
    });
  const gate = () => headwayCommand('gate', 'test', '--work', 'W-1', '--', ...GATE);

  beforeAll(async () => {
    headway = await startEmbedded();
    repository = await mkdtemp(join(tmpdir(), 'headway scratch '));
    await writeFile(join(repository, 'sum.js'), WRONG);
    await writeFile(join(repository, 'sum.test.js'), TEST);
    await writeFile(join(repository, 'package.json'), '{"type":"module"}\n');
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-q', '-m', 'first'],
    ])
      expect((await run('git', args, { cwd: repository })).code).toBe(0);
    nats = await connect({ servers: headway.natsUrl });
    const subscription = nats.subscribe('trajectory.signal.default.stagnating.>');
    void (async () => {
      for await (const message of subscription) heard.push({ subject: message.subject, event: message.json() });
    })();
    await nats.flush();
  });
  afterAll(async () => {
    await nats?.close();
    await headway?.stop();
    for (const folder of [repository, `${repository}-state`, `${repository}-operator`])
      await rm(folder, { recursive: true, force: true });
  });

  it('shows a loop after three equal failures, and takes the signal back when the work gets through', async () => {
    const page = chromium === null ? null : await watchPage(chromium, headway.url);
    try {
      const plain = await run(GATE[0] ?? '', GATE.slice(1), { cwd: repository });
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const ran = await gate();
        expect(ran.code).toBe(plain.code);
        expect(withoutTimes(ran.stdout)).toBe(withoutTimes(plain.stdout));
        expect(ran.stderr).toBe('to-the-error-channel\n');
        await page?.shows(attempt < 3 ? 'slow' : 'stagnating');
      }
      const status = JSON.parse((await headwayCommand('status', '--json')).stdout) as { works: unknown[] };
      expect(status.works).toMatchObject([
        { work: 'W-1', class: 'stagnating', assessment: { rule: 'same-failure', gate: 'test', count: 3 } },
      ]);
      const { stdout: brief } = await headwayCommand('brief', 'W-1');
      const signal = String(heard[0]?.event.data.signal);
      expect(brief).toMatch(/^# .+\n\n## Trajectory redirect\n/);
      expect(brief.indexOf('Trajectory redirect')).toBeLessThan(brief.indexOf('Acceptance criteria'));
      expect(brief).toContain('Gate: `test`');
      expect(brief).toContain('Attempts: 3');
      expect(brief).toContain(`Signature: \`${String(heard[0]?.event.data.signature).slice(0, 12)}\``);
      expect(brief).toContain(`Signal: ${signal}`);
      expect(heard).toMatchObject([
        {
          subject: 'trajectory.signal.default.stagnating.W-1',
          event: { type: 'headway.signal.raised', data: { rule: 'same-failure', gate: 'test', count: 3 } },
        },
      ]);

      await writeFile(join(repository, 'sum.js'), RIGHT);
      expect((await gate()).code).toBe(0);
      await page?.shows('productive');
      const after = JSON.parse((await headwayCommand('status', '--json')).stdout) as { works: unknown[] };
      expect(after.works).toMatchObject([{ work: 'W-1', class: 'productive', openSignal: null }]);
      expect((await headwayCommand('brief', 'W-1')).stdout).not.toContain('Trajectory redirect');
      const signals = await fetch(`${headway.url}/v1/signals`).then((answer) => answer.json());
      expect(signals).toMatchObject({ items: [{ signal, state: 'withdrawn' }] });
      expect(heard).toHaveLength(1);
      await page?.wasNeverReloaded();
    } finally {
      await page?.close();
    }
  });

  it('plays a fleet in the demo, twice beside each other, and the commands tell what came of it', async () => {
    interface Told {
      readonly title: string;
      readonly works: readonly { work: string; class: string }[];
      readonly signals: readonly { signal: string; kind: string; state: string; works: string[] }[];
    }
    const play = async (...args: string[]): Promise<Told[]> => {
      const ran = await headwayCommand('demo', '--pace', '0', '--json', ...args);
      expect(ran.code, ran.stderr).toBe(0);
      return ran.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Told);
    };
    const first = await play();
    expect(first.map(({ works }) => works[0]?.class)).toEqual([
      undefined,
      'productive',
      'stagnating',
      'unknown',
      'unknown',
      'slow',
      'stagnating',
      'slow',
      'productive',
    ]);
    const signalsOf = (step: number) => first[step]?.signals.map(({ kind, state }) => `${kind} ${state}`);
    expect(signalsOf(2)).toEqual(['stagnating open']);
    expect(first.slice(3, 5).flatMap(({ signals }) => signals)).toEqual([]);
    expect(first[5]?.signals).toMatchObject([{ kind: 'shared-failure', state: 'open', works: { length: 3 } }]);
    expect(signalsOf(6)).toEqual(['stagnating acknowledged']);
    expect(signalsOf(7)).toEqual(['shared-failure acknowledged']);

    const second = await play('--release');
    const ids = (told: Told[]) => new Set(told.flatMap(({ signals }) => signals.map(({ signal }) => signal)));
    expect(ids(second).size).toBe(2);
    expect(ids(first).isDisjointFrom(ids(second))).toBe(true);

    const narrated = await headwayCommand('demo', '--pace', '0', '--release');
    expect(narrated.stdout).toContain('[9/9]');
    expect(narrated.stdout).toContain(`${headway.url}/`);
    const list = await headwayCommand('signal', 'list', '--all', '--to', 'demo-lead');
    expect(list.stdout).toMatch(/^SIGNAL +STATE +KIND/);
    expect(list.stdout).toContain('shared-failure');
    const report = await headwayCommand('report', '--days', '1');
    expect(report.stdout).toMatch(/Efficiency of done works: 81% over 3 with a score/);
  });

  it('shows and answers a signal, proposes what may be done, and takes a policy from the operator alone', async () => {
    const stuck = ['headway.work.claimed', ...Array(3).fill('headway.gate.attempted')].map((type, at) => ({
      specversion: '1.0',
      id: `stuck-${at}`,
      source: 'session',
      subject: 'W-2',
      type,
      data:
        at === 0
          ? { worker: 'agent', orchestrator: 'lead' }
          : { gate: 'test', outcome: 'failed', failures: [{ key: 'own' }], diff: { hash: 'd' } },
    }));
    const posted = await fetch(`${headway.url}/v1/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(stuck),
    });
    const { position } = (await posted.json()) as { position: string };
    const listed = await headwayCommand('signal', 'list', '--work', 'W-2', '--after', position, '--json');
    const [signal] = (JSON.parse(listed.stdout) as { signals: { signal: string }[] }).signals;
    const id = signal?.signal ?? '';
    expect((await headwayCommand('signal', 'show', id.slice(0, 12))).stdout).toContain(`Signal ${id}`);

    const { stdout: recover } = await headwayCommand('recover', 'W-2');
    const propose = recover.split('\n').find((line) => line.startsWith('headway signal send')) ?? '';
    // The proposal as it was printed, run by a shell: it is a message, and answers nothing.
    const script = propose.replace(/^headway /, `'${headway.commandLine}' `);
    const sent = await run('sh', ['-c', script], {
      cwd: repository,
      env: { HEADWAY_URL: headway.url, XDG_STATE_HOME: `${repository}-state` },
    });
    expect(sent.code, sent.stderr).toBe(0);
    expect((await headwayCommand('signal', 'show', id)).stdout).toContain('State: open');
    expect((await headwayCommand('ack', id, '--agree')).code).toBe(2);
    expect((await headwayCommand('ack', id, '--agree', '--as', 'stranger')).code).toBe(3);
    expect((await headwayCommand('ack', id, '--agree', '--as', 'lead')).stdout).toContain(
      'acknowledged by lead (AGREE)',
    );

    const set = ['policy', 'set', '--set', 'sameFailure=4', '--why', 'slow suite', '--by', 'ana'];
    expect((await headwayCommand(...set)).code).toBe(3);
    const token = (await readFile(headway.tokenFile, 'utf8')).trim();
    const operator = await run(headway.commandLine, set, {
      cwd: repository,
      env: { HEADWAY_URL: headway.url, HEADWAY_TOKEN: token, XDG_STATE_HOME: `${repository}-operator` },
    });
    expect(operator.code, operator.stderr).toBe(0);
    const at = /after (EVIDENCE:\S+)/.exec(operator.stdout)?.[1] ?? '';
    const { stdout: policy } = await headwayCommand('policy', 'show', '--after', at);
    expect(policy).toMatch(/sameFailure +3 +4 \*/);
    expect(policy).toContain('set by ana');
  });

  it('lets a plain NATS client hear the trajectory and nothing else, and say nothing', async () => {
    const refusals: string[] = [];
    void (async () => {
      for await (const status of nats.status()) if (status.type === 'error') refusals.push(String(status.error));
    })();
    nats.publish('evidence.0.default.W-1', 'made up');
    const deaf = nats.subscribe('evidence.>', {
      callback: (error) => void (error === null ? null : refusals.push(String(error))),
    });
    await eventually(() => refusals.length >= 2, { what: 'two refusals' });
    expect(refusals.join('\n')).toMatch(/publish/i);
    expect(refusals.join('\n')).toMatch(/subscription/i);
    deaf.unsubscribe();
  });
});

const withoutTimes = (output: string) => output.replaceAll(/duration_ms:? [\d.]+/g, 'duration_ms');

/** The fleet page in a real browser, from before the first report on. */
async function watchPage(executable: string, url: string) {
  const browser: OpenBrowser = await openBrowser(executable);
  const page = await browser.context.newPage();
  await page.goto(url);
  await page.evaluate('window.neverReloaded = true');
  return {
    shows: (name: string) =>
      page.locator('tr', { hasText: 'W-1' }).filter({ hasText: name }).first().waitFor({ timeout: 20_000 }),
    wasNeverReloaded: async () => expect(await page.evaluate('window.neverReloaded')).toBe(true),
    close: () => browser.close(),
  };
}

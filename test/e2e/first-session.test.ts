import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
    for (const folder of [repository, `${repository}-state`]) await rm(folder, { recursive: true, force: true });
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

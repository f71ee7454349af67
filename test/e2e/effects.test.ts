import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EffectView } from '@headway/contracts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../harness/run.ts';
import { repositoryRoot, type Services, startServices } from '../harness/services.ts';

const SECRET = 'canary-of-the-target-7f3a';

describe('effects, asked for on the command line', () => {
  let folder: string;
  let services: Services;
  let target: Target;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headway-effects-'));
    target = await startTarget();
    const targets = join(folder, 'targets.json');
    const origin = {
      origin: target.origin,
      privateAddresses: ['127.0.0.1'],
      headers: { authorization: `Bearer ${SECRET}` },
    };
    await writeFile(targets, JSON.stringify({ http: { origins: [origin], keyRetentionSeconds: 0 } }));
    services = await startServices({ HEADWAY_EFFECT_TARGETS_FILE: targets }, { started: ['executor'] });
    for (const tenant of ['one', 'two'])
      expect((await post(tenant, '/v1/effects/policies', policyFor(target.origin))).status).toBe(201);
  });
  afterAll(async () => {
    await services?.stop();
    await target?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const post = (tenant: string, path: string, body: unknown) =>
    fetch(services.url('executor') + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${services.token}`,
        'headway-tenant': tenant,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
  const effect = (tenant: string, ...args: string[]) =>
    run(process.execPath, [join(repositoryRoot, 'packages/faces/cli/src/main.ts'), 'effect', ...args], {
      cwd: folder,
      env: {
        HEADWAY_URL: services.url('executor'),
        HEADWAY_TOKEN: services.token,
        HEADWAY_TENANT: tenant,
        XDG_STATE_HOME: join(folder, 'state'),
      },
    });
  const ask = (tenant: string, key: string, text: string) =>
    effect(
      tenant,
      ...['request', 'http', '--target', `${target.origin}/notes`, '--key', key],
      ...['--inputs', JSON.stringify({ json: { text } }), '--wait', '20', '--json'],
    );
  const viewOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as EffectView;

  it('has one effect, keeps its result, and gives it again to whoever asks again', { timeout: 60_000 }, async () => {
    const first = await ask('one', 'note-1', 'hello');
    expect(first).toMatchObject({ code: 0 });
    const view = viewOf(first);
    expect(view).toMatchObject({
      state: 'SUCCEEDED',
      attempt: 1,
      result: { status: 201, body: { note: 1, text: 'hello' } },
    });
    const again = viewOf(await ask('one', 'note-1', 'hello'));
    expect([again.operation, again.result]).toEqual([view.operation, view.result]);
    expect(target.notes).toEqual(['hello']);

    const other = await ask('one', 'note-1', 'something else');
    expect([other.code, other.stderr]).toEqual([3, expect.stringContaining('already asked for with other inputs')]);
    expect(
      (
        await post('one', '/v1/effects', {
          kind: 'http',
          target: `${target.origin}/notes`,
          key: 'note-1',
          inputs: { json: { text: 'something else' } },
        })
      ).status,
    ).toBe(422);

    const theirs = viewOf(await ask('two', 'note-1', 'hello of another tenant'));
    expect(theirs.state).toBe('SUCCEEDED');
    expect(theirs.operation).not.toBe(view.operation);
    expect(target.notes).toEqual(['hello', 'hello of another tenant']);
    expect((await effect('two', 'show', view.operation)).code).toBe(3);

    const shown = await effect('one', 'show', view.operation.slice(0, 8));
    expect(shown.stdout).toContain('SUCCEEDED');
    for (const { stdout, stderr } of [first, shown, await effect('one', 'list', '--json')])
      expect(stdout + stderr).not.toContain(SECRET);
  });

  it('shows what is uncertain, since when and what would resolve it, until a person does', {
    timeout: 60_000,
  }, async () => {
    target.loseAnswers = true;
    const { operation } = viewOf(
      await effect(
        'one',
        ...['request', 'http', '--target', `${target.origin}/notes`, '--key', 'note-2'],
        ...['--inputs', '{"json":{"text":"lost"}}', '--wait', '4', '--json'],
      ),
    );
    const queue = await effect('one', 'list', '--uncertain');
    expect(queue.stdout).toMatch(new RegExp(`${operation.slice(0, 12)}  UNCERTAIN \\d+ s .*note-2  \\(.+\\)`));
    const looked = await effect('one', 'reconcile', operation.slice(0, 12));
    expect(looked).toMatchObject({ code: 4, stdout: expect.stringMatching(/^resolved by +\S/m) });

    const nobody = await effect('one', 'resolve', operation, '--to', 'SUCCEEDED');
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('--by')]);
    const resolved = await effect(
      'one',
      ...['resolve', operation, '--to', 'SUCCEEDED', '--by', 'Ada', '--reason', 'seen as note 3'],
      ...['--result', '{"note":3}', '--json'],
    );
    expect(viewOf(resolved)).toMatchObject({ state: 'SUCCEEDED', result: { note: 3 } });
    expect((await effect('one', 'watch', operation)).code).toBe(0);
    expect((await effect('one', 'list', '--uncertain')).stdout).toBe('no effect is UNCERTAIN\n');
    expect(target.notes.filter((text) => text === 'lost')).toHaveLength(1);
  });

  it('verifies a history, and tells where somebody changed it', { timeout: 60_000 }, async () => {
    target.loseAnswers = false;
    const { operation } = viewOf(await ask('one', 'note-4', 'to be verified'));
    const whole = await effect('one', 'verify', operation);
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining('unbroken') });

    const client = new pg.Client({ connectionString: services.postgresUrl });
    await client.connect();
    const changed = await client.query(
      `update effects.history set entry = replace(entry, 'to be verified', 'was never there')
       where operation = $1 and entry like '%to be verified%'`,
      [operation],
    );
    await client.end();
    expect(changed.rowCount).toBeGreaterThan(0);
    const broken = await effect('one', 'verify', operation, '--json');
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ operation, whole: false, version: expect.any(Number) });
  });
});

const policyFor = (origin: string) => ({
  kind: 'http',
  target: `${origin}/*`,
  maximumPerHour: 20,
  by: 'Ada',
  reason: 'notes of this test',
});

interface Target {
  readonly origin: string;
  /** The texts of its notes, in the order they were written. */
  readonly notes: string[];
  /** Cuts each connection after the note was written. */
  loseAnswers: boolean;
  stop(): Promise<void>;
}

/** A small API of notes that forgets keys at once, as the targets file says. */
async function startTarget(): Promise<Target> {
  const notes: string[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { text } = JSON.parse(body) as { text: string };
    notes.push(text);
    if (target.loseAnswers) request.socket.destroy();
    else
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ note: notes.length, text }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target: Target = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    notes,
    loseAnswers: false,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  return target;
}

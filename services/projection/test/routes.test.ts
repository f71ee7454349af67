import type { StreamName } from '@headway/contracts';
import { createHttp } from '@headway/runtime';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCoverage } from '../src/coverage.ts';
import type { Projecting } from '../src/projection.ts';
import { mountReading } from '../src/routes/mount.ts';
import {
  assessed,
  assessment,
  attempt,
  evidence,
  fact,
  heldBy,
  raised,
  signallerAt,
  signals,
  trajectory,
} from './records.ts';
import { type Rig, startRig } from './rig.ts';

let server: TestPostgres;
const open: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
afterAll(async () => {
  await server?.stop();
});

async function service({ waitMs = 10_000 } = {}) {
  const rig = await startRig(server);
  const projecting: Projecting = rig.project();
  const { views } = rig.model;
  const app = createHttp({
    service: 'projection',
    logger: rig.logger,
    access: { operatorTokenSha256: null, loopbackOpen: true },
    checks: projecting.checks,
    publicHosts: [],
  });
  const endOf = async (stream: string) => (await rig.log.describe(stream as StreamName)).lastSequence;
  const covered = createCoverage({ views, watch: rig.watch, generationOf: projecting.generationOf, endOf, waitMs });
  mountReading(app, { views, watch: rig.watch, covered });
  open.push({ stop: () => rig.stop() }, { stop: () => app.close() });
  const get = async (url: string) => {
    const answer = await app.inject({ url });
    return { status: answer.statusCode, body: answer.body, json: () => answer.json() };
  };
  return { rig, app, get };
}

/** W-1 stagnates with an open signal, W-2 is productive; both streams in step. */
async function fleet({ say }: Rig) {
  const claim = fact('headway.work.claimed', { worker: 'w', orchestrator: 'o', criteria: ['all tests pass'] });
  const tries = [attempt(), attempt(), attempt({ time: '2026-01-01T00:00:00Z' })] as const;
  const passed = attempt({}, { outcome: 'passed' });
  await say(evidence('W-1', [claim, ...tries]), evidence('W-2', [passed]));
  await say(
    trajectory('W-1', 1, [assessed('W-1', tries[2], assessment('same-failure'))]),
    trajectory('W-2', 2, [assessed('W-2', passed, assessment('pass-stands'))]),
    signals(1, [raised('s-1', ['W-1'])]),
    signallerAt(3),
  );
}

describe('the works', () => {
  test('come with their class, red rows first, filtered and page by page', async () => {
    const { rig, get } = await service();
    await fleet(rig);
    const all = (await get('/v1/works?after=EVIDENCE:1:2')).json();
    expect(all).toMatchObject({ next: null, position: 'EVIDENCE:1:2' });
    expect(all.items.map((row: { work: string }) => row.work)).toEqual(['W-1', 'W-2']);
    const first = (await get('/v1/works?limit=1')).json();
    expect(first.items).toHaveLength(1);
    const second = (await get(`/v1/works?limit=1&cursor=${first.next}`)).json();
    expect(second.items.map((row: { work: string }) => row.work)).toEqual(['W-2']);
    expect(second.next).toBeNull();
    const productive = (await get('/v1/works?class=productive')).json();
    expect(productive.items.map((row: { work: string }) => row.work)).toEqual(['W-2']);
    const one = (await get('/v1/works/W-1?after=EVIDENCE:1:2')).json();
    expect(one).toMatchObject({
      work: 'W-1',
      worker: 'w',
      phase: 'claimed',
      class: 'stagnating',
      since: '2026-01-01T00:00:00Z',
      attempts: 3,
      costUsd: null,
    });
  });

  test('tell what happened in order, page by page, and the newest first where asked', async () => {
    const { rig, get } = await service();
    await fleet(rig);
    await rig.settled();
    const types: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await get(`/v1/works/W-1/timeline?limit=2${cursor}`)).json();
      types.push(...page.items.map((entry: { type: string }) => entry.type));
      if (page.next === null) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(types).toEqual([
      'headway.work.claimed',
      'headway.gate.attempted',
      'headway.gate.attempted',
      'headway.gate.attempted',
      'headway.work.assessed',
      'headway.signal.raised',
    ]);
    const back = (await get('/v1/works/W-1/timeline?order=desc')).json();
    expect(back.items.map((entry: { type: string }) => entry.type)).toEqual(types.toReversed());
    expect(back.items[0]).toMatchObject({ kind: 'signal', position: 'RECORD:1:3' });
  });

  test('with ids of any kind are found', async () => {
    const { rig, get } = await service();
    const id = 'a/b c.ü?#%';
    await rig.say(evidence(id, [attempt()]));
    await rig.settled();
    expect((await get(`/v1/works/${encodeURIComponent(id)}`)).json()).toMatchObject({ work: id });
  });

  test('that nobody has reported on are not there', async () => {
    const { get } = await service();
    for (const path of ['/v1/works/none', '/v1/works/none/timeline', '/v1/works/none/brief'])
      expect((await get(path)).json()).toMatchObject({ status: 404, code: 'work_not_found' });
    expect((await get('/v1/signals/none')).json()).toMatchObject({ status: 404, code: 'signal_not_found' });
  });
});

test('the brief has the redirect while the signal is open, and not afterwards', async () => {
  const { rig, get } = await service();
  await fleet(rig);
  const before = await get('/v1/works/W-1/brief?after=EVIDENCE:1:2');
  expect(before.body).toMatch(/^# Brief for `W-1`\n\n## Trajectory redirect\n[\s\S]*## Acceptance criteria/);
  expect(before.body).toContain('headway ack s-1');
  expect((await get('/v1/signals?state=open')).json().items).toMatchObject([{ signal: 's-1', works: ['W-1'] }]);
  const closed = { signal: 's-1', kind: 'stagnating' as const, works: ['W-1'] };
  await rig.say(
    signals(3, [
      {
        type: 'headway.signal.acknowledged',
        id: 'ack',
        data: { ...closed, intent: 'AGREE', from: 'o', incarnations: [1] },
      },
    ]),
  );
  await rig.settled();
  expect((await get('/v1/works/W-1/brief')).body).not.toContain('redirect');
  expect((await get('/v1/signals?state=open')).json().items).toEqual([]);
  expect((await get('/v1/signals/s-1')).json()).toMatchObject({
    state: 'acknowledged',
    closing: { intent: 'AGREE', from: 'o' },
  });
});

describe('a read after a position', () => {
  test('waits for the evidence, then for its class, then for its signals', async () => {
    const { rig, get } = await service();
    const failed = attempt();
    const done: string[] = [];
    await rig.say(evidence('W-1', [failed]));
    const asked = Promise.all(
      ['/v1/works/W-1', '/v1/works/W-1/brief', '/v1/signals'].map(async (path) => {
        const answer = await get(`${path}?after=EVIDENCE:1:1`);
        done.push(path);
        return answer;
      }),
    );
    await rig.settled();
    expect(done).toEqual([]);
    await rig.say(trajectory('W-1', 1, [assessed('W-1', failed, assessment('same-failure'))]));
    await eventually(() => done.length === 1, { what: 'the class' });
    expect(done).toEqual(['/v1/works/W-1']);
    await rig.say(signals(1, [raised('s-1', ['W-1'])]));
    const [work, brief, open] = await asked;
    expect(work?.json()).toMatchObject({ class: 'stagnating' });
    expect(brief?.body).toContain('## Trajectory redirect');
    expect(open?.json().items).toMatchObject([{ signal: 's-1' }]);
  });

  test('of signals that stand still behind a dead letter answers so at once; what the feed cannot tell holds nobody', async () => {
    const { rig, get } = await service();
    const failed = attempt();
    await rig.say(evidence('W-1', [failed]));
    const sequence = await rig.say(trajectory('W-1', 1, [assessed('W-1', failed, assessment('same-failure'))]));
    await rig.say(heldBy('feed', sequence, 'W-1'), signallerAt(sequence));
    expect((await get('/v1/signals?after=EVIDENCE:1:1')).status).toBe(200);
    await rig.say(heldBy('signaller', sequence, 'W-1'));
    await rig.settled();
    expect((await get('/v1/works/W-1?after=EVIDENCE:1:1')).json()).toMatchObject({ class: 'stagnating' });
    const refused = (await get('/v1/signals?after=EVIDENCE:1:1')).json();
    expect(refused).toMatchObject({ status: 409, code: 'work_held' });
    expect(refused.detail).toContain(`signaller-RECORD-1-${sequence}`);
  });

  test('is not held up by other works, nor by evidence after the position', async () => {
    const { rig, get } = await service();
    const event = attempt();
    await rig.say(evidence('W-1', [event]), evidence('W-2', [attempt()]));
    await rig.say(trajectory('W-1', 1, [assessed('W-1', event, assessment('nothing-fired'))]));
    expect((await get('/v1/works/W-1?after=EVIDENCE:1:2')).json()).toMatchObject({ class: 'slow' });
    expect((await get('/v1/works?after=EVIDENCE:1:1')).json()).toMatchObject({ position: 'EVIDENCE:1:2' });
  });

  test('that does not come in time answers so', async () => {
    const { rig, get } = await service({ waitMs: 60 });
    await rig.say(evidence('W-1', [attempt()]));
    await rig.settled();
    expect((await get('/v1/works/W-1?after=EVIDENCE:1:1')).json()).toMatchObject({ status: 504, code: 'not_yet' });
  });

  test('of a log that is gone answers so, and nonsense is refused', async () => {
    const { rig, get } = await service({ waitMs: 60 });
    await rig.say(evidence('W-1', [attempt()]));
    await rig.settled();
    for (const after of ['EVIDENCE:7:1', 'EVIDENCE:1:99'])
      expect((await get(`/v1/works?after=${after}`)).json()).toMatchObject({ status: 410, code: 'position_lost' });
    for (const after of ['nonsense', 'EVIDENCE:1', 'FEED:1:1', 'EVIDENCE:1:-1'])
      expect((await get(`/v1/works?after=${after}`)).json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

test('a parameter that is not allowed is refused with what to change', async () => {
  const { get } = await service();
  for (const url of [
    '/v1/works?limit=0',
    '/v1/works?limit=100000',
    '/v1/works?limit=x',
    '/v1/works?class=angry',
    '/v1/works?cursor=%00',
    '/v1/works?cursor=WzEsMl0',
    '/v1/works/W-1/timeline?order=sideways',
    '/v1/signals?state=lost',
    '/v1/signals?cursor=e30',
    '/v1/stream?since=-1',
    '/v1/stream?kind=angry',
    '/v1/works?lane=fast',
    '/v1/signals?worker=w',
    '/v1/signals/s-1?state=open',
  ]) {
    const answer = await get(url);
    expect([url, answer.status]).toEqual([url, 400]);
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter', detail: expect.stringMatching(/^`\w+`: /) });
  }
});

test('tenants see nothing of each other', async () => {
  const { rig, get } = await service();
  const event = attempt();
  await rig.say(evidence('W-1', [event], 'other'));
  await rig.say(
    trajectory('W-1', 1, [assessed('W-1', event, assessment('same-failure'))], 'other'),
    signals(1, [raised('s-1', ['W-1'])], 'other'),
  );
  await rig.settled();
  expect((await get('/v1/works')).json().items).toEqual([]);
  expect((await get('/v1/signals')).json().items).toEqual([]);
  for (const path of ['/v1/works/W-1', '/v1/works/W-1/brief', '/v1/works/W-1/timeline', '/v1/signals/s-1'])
    expect((await get(path)).status).toBe(404);
});

describe('the stream', () => {
  test('sends what changes, and after an interruption everything that was missed', async () => {
    const { rig, app } = await service();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const first = await listen(app);
    await rig.say(evidence('W-1', [attempt()]));
    await eventually(() => first.events.some(({ event }) => event === 'work'), { what: 'the work' });
    const last = await eventually(() => first.events.findLast(({ id }) => id !== null)?.id, { what: 'an id' });
    await first.end();

    await rig.say(...['W-1', 'W-2', 'W-3'].map((work) => evidence(work, [attempt()])));
    await rig.say(signals(0, [raised('s-1', ['W-1'])]));
    await rig.settled();
    const second = await listen(app, { 'last-event-id': last });
    await eventually(() => second.events.some(({ event }) => event === 'signal'), { what: 'the signal' });
    const works = new Set(second.events.filter(({ event }) => event === 'work').map(({ data }) => data.work));
    expect(works).toEqual(new Set(['W-1', 'W-2', 'W-3']));
    expect(second.events.find(({ event }) => event === 'signal')?.data).toMatchObject({ signal: 's-1', state: 'open' });
    const newest = second.events.filter(({ data }) => data.work === 'W-1').at(-1);
    expect(newest?.data).toMatchObject({ openSignal: 's-1' });
    await second.end();
  });

  test('sends signals of one kind alone where a kind is asked for', async () => {
    const { rig, app } = await service();
    await app.listen({ host: '127.0.0.1', port: 0 });
    await rig.say(evidence('W-1', [attempt()]));
    await rig.say(signals(0, [raised('s-1', ['W-1'])]));
    await rig.settled();
    const all = await listen(app, {}, '?since=0');
    const { data } = await eventually(() => all.events.find(({ event }) => event === 'signal'), { what: 'the signal' });
    await all.end();
    const of = await listen(app, {}, `?since=0&kind=${String(data.kind)}`);
    const others = await listen(app, {}, '?since=0&kind=awaiting-wake');
    await eventually(() => of.events.length > 0, { what: 'the signal of that kind' });
    expect(of.events.map(({ event, data }) => [event, data.signal])).toEqual([['signal', 's-1']]);
    expect(others.events).toEqual([]);
    await Promise.all([of.end(), others.end()]);
  });

  test('ends on the id of the last change, however many rows changed together', async () => {
    const { rig, app } = await service();
    await app.listen({ host: '127.0.0.1', port: 0 });
    await rig.say(...Array.from({ length: 450 }, (_, at) => evidence(`W-${at}`, [attempt()])));
    await rig.settled();
    const client = await listen(app, {}, '?since=0');
    await eventually(() => client.events.length >= 450, { what: 'all works' });
    await client.end();
    expect(new Set(client.events.map(({ data }) => data.work)).size).toBe(450);
    const ids = client.events.filter(({ id }) => id !== null);
    expect(client.events.at(-1)?.id).toBe(ids.at(-1)?.id);
    expect(Number(ids.at(-1)?.id)).toBe(await rig.model.views.newestChange());
  });

  test('lets go of its clients when the service ends', async () => {
    const { app } = await service();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const client = await listen(app);
    await app.close();
    await client.ended;
  });
});

test('the pages show the fleet and a work, with every file that they ask for', async () => {
  const { rig, app, get } = await service();
  await fleet(rig);
  await rig.settled();
  for (const path of ['/', '/works/W-1']) {
    const page = await app.inject({ url: path });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.body).toContain('W-1');
    const files = [...page.body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file]) => file as string);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect([file, (await get(file)).status]).toEqual([file, 200]);
  }
  expect((await get('/works/W-1')).body).toContain('s-1');
  expect((await get('/works/none')).status).toBe(404);
});

test('readiness says what is missing', async () => {
  const { rig, get } = await service();
  await eventually(async () => (await get('/readyz')).status === 200, { what: 'ready' });
  await rig.sql(`alter table headway.changes rename to elsewhere`);
  expect(await get('/readyz').then(({ status, json }) => [status, json().checks.postgres.ready])).toEqual([503, false]);
  expect((await get('/healthz')).status).toBe(200);
  await rig.sql(`alter table headway.elsewhere rename to changes`);
});

interface Sent {
  readonly event: string | null;
  readonly id: string | null;
  readonly data: { readonly work?: string; readonly signal?: string } & Record<string, unknown>;
}

/** A client of the stream, reading as it comes. */
async function listen(
  app: Awaited<ReturnType<typeof service>>['app'],
  headers: Record<string, string> = {},
  query = '',
) {
  const { port } = app.server.address() as { port: number };
  const abort = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/v1/stream${query}`, { headers, signal: abort.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const events: Sent[] = [];
  const read = async () => {
    let text = '';
    for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const of = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
        const data = of('data');
        if (data !== null) events.push({ event: of('event'), id: of('id'), data: JSON.parse(data) });
      }
    }
  };
  const ended = read().catch(() => undefined);
  return {
    events,
    ended,
    async end() {
      abort.abort();
      await ended;
    },
  };
}

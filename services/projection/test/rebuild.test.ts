import type { ProjectionView, WorkView } from '@headway/contracts';
import type { Rebuilds } from '@headway/readmodel';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Decode } from '../src/decode.ts';
import { decode } from '../src/decode.ts';
import { apiOver } from './api.ts';
import { compareRebuild } from './compare-rebuild.ts';
import { attempt, evidence } from './records.ts';
import { contents, type Rig, startRig } from './rig.ts';
import { createTraffic } from './traffic.ts';

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

async function started(options: Parameters<typeof startRig>[1] = {}, read?: Decode) {
  const rig = await startRig(server, options);
  open.push({ stop: () => rig.stop() });
  const api = apiOver(rig, read);
  open.push({ stop: () => api.app.close() });
  return { rig, ...api };
}

/** Rebuilds whose writes wait at a gate, so that a test can do something in the middle of one. */
function gated() {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const wrap = (inner: Rebuilds): Rebuilds => ({
    ...inner,
    takeOn: async (worker) => {
      const rebuild = await inner.takeOn(worker);
      if (rebuild === null) return null;
      return {
        ...rebuild,
        write: async (...given) => {
          const written = await rebuild.write(...given);
          reached.resolve();
          await gate.promise;
          return written;
        },
      };
    },
  });
  return { wrap, reached: reached.promise, go: () => gate.resolve() };
}

const projections = async (get: Awaited<ReturnType<typeof started>>['get']) =>
  (await get<{ items: ProjectionView[] }>('/v1/projections')).body.items[0] as ProjectionView;
const schemas = async ({ sql }: Rig) =>
  (await sql<{ nspname: string }>(`select nspname from pg_namespace where nspname like 'headway_%'`)).map(
    ({ nspname }) => nspname,
  );

test('a rebuild of 20,000 events under live traffic equals a generation that was never rebuilt', async () => {
  const done = await compareRebuild(server, { works: 250, events: 20_000, duringRebuild: 2 });
  expect(done.rows.works).toBe(250);
  expect(done.rows.timeline).toBeGreaterThan(20_000);
  expect(done.difference).toEqual({});
});

test('shows progress, and keeps the change of every row that is as it was', async () => {
  const { rig, get, act } = await started();
  const traffic = createTraffic(5);
  for (let round = 0; round < 20; round += 1) await traffic.say(rig);
  await rig.settled();
  const before = await rig.sql('select tenant, work, change from headway.works order by work');
  expect(await projections(get)).toMatchObject({ name: 'fleet', generation: 1, rebuild: null });
  const asked = await act('/v1/projections/fleet/rebuild', { why: 'to see', as: 'maria' });
  expect(asked.status).toBe(202);
  const view = await eventually(async () => {
    const now = await projections(get);
    return now.rebuild?.state === 'switched' ? now : null;
  });
  expect(view).toMatchObject({
    generation: 2,
    rebuild: { done: 240, total: 240, requestedBy: 'operator (maria)', why: 'to see', error: null },
    readers: [
      { stream: 'EVIDENCE', position: 'EVIDENCE:1:100', lag: 0 },
      { stream: 'RECORD', position: 'RECORD:1:140', lag: 0 },
      { stream: 'ACTS', position: 'ACTS:1:1', lag: 0 },
      { stream: 'EFFECTS', position: 'EFFECTS:0:0', lag: 0 },
    ],
  });
  expect(await rig.sql('select tenant, work, change from headway.works order by work')).toEqual(before);
  await eventually(async () => (await schemas(rig)).length === 0);
});

test('a row that the code projects in another way gets a new change, so that followers hear of it', async () => {
  const { rig, get, act } = await started();
  await rig.say(evidence('W-1', [attempt({ id: 'one' })]), evidence('W-2', [attempt({ id: 'two' })]));
  await rig.settled();
  await rig.sql(`update headway.works set lane = 'a mistake of older code' where work = 'W-2'`);
  const newest = await rig.model.views.newestChange();
  await act('/v1/projections/fleet/rebuild', { why: 'the lane is wrong' });
  await eventually(async () => (await projections(get)).generation === 2);
  const [one, two] = await Promise.all(
    ['W-1', 'W-2'].map(async (work) => (await get<WorkView>(`/v1/works/${work}`)).body),
  );
  expect(two).toMatchObject({ lane: null });
  expect(two?.change).toBeGreaterThan(newest);
  expect(one?.change).toBeLessThanOrEqual(newest);
});

test('a rebuild that is called off leaves everything as it was', async () => {
  const gate = gated();
  const { rig, get, act } = await started({ rebuilds: gate.wrap });
  const traffic = createTraffic(5);
  for (let round = 0; round < 3; round += 1) await traffic.say(rig);
  await rig.settled();
  const before = (await contents(rig)) as { works: unknown };
  await act('/v1/projections/fleet/rebuild', { why: 'to see' });
  await gate.reached;
  expect((await projections(get)).rebuild?.state).toBe('running');
  expect((await act('/v1/projections/fleet/rebuild', { why: 'twice' })).body.code).toBe('rebuild_under_way');
  expect((await act('/v1/projections/fleet/rebuild/cancel', { why: 'not now' })).status).toBe(202);
  await rig.settled();
  gate.go();
  await eventually(async () => (await schemas(rig)).length === 0);
  expect(await projections(get)).toMatchObject({
    generation: 1,
    rebuild: { state: 'cancelled', error: 'called off by operator: not now' },
  });
  expect(((await contents(rig)) as { works: unknown }).works).toEqual(before.works);
  expect((await act('/v1/projections/fleet/rebuild/cancel', { why: 'again' })).body.code).toBe('no_rebuild');
});

test('a rebuild whose process ends is begun anew by the next one', async () => {
  const gate = gated();
  const { rig, get, act } = await started({ rebuilds: gate.wrap });
  const traffic = createTraffic(5);
  for (let round = 0; round < 3; round += 1) await traffic.say(rig);
  await rig.settled();
  const before = (await contents(rig)) as Record<string, unknown>;
  await act('/v1/projections/fleet/rebuild', { why: 'to see' });
  await gate.reached;
  const ended = rig.endProjecting();
  gate.go();
  await ended;
  expect(((await contents(rig)) as { works: unknown }).works).toEqual(before.works);
  expect((await projections(get)).rebuild?.state).toBe('running');
  rig.project();
  await eventually(async () => (await projections(get)).generation === 2);
  const after = (await contents(rig)) as Record<string, unknown>;
  for (const table of ['works', 'timeline', 'signals', 'members', 'coverage'])
    expect(after[table]).toEqual(before[table]);
});

test('what a process has left that died right after its switch keeps nobody from the next rebuild', async () => {
  const { rig, get, act } = await started();
  await rig.say(evidence('W-1', [attempt()]));
  await rig.settled();
  await rig.sql('create schema headway_old');
  await rig.sql('create table headway_old.works (like headway.works)');
  expect((await act('/v1/projections/fleet/rebuild', { why: 'to see' })).status).toBe(202);
  await eventually(async () => (await projections(get)).generation === 2);
  await eventually(async () => (await schemas(rig)).length === 0);
});

test('a page that cannot be fetched for a moment is fetched again, and the rebuild goes on', async () => {
  let broken = 0;
  const wrap = (inner: Rebuilds): Rebuilds => ({
    ...inner,
    takeOn: async (worker) => {
      const rebuild = await inner.takeOn(worker);
      if (rebuild === null) return null;
      return {
        ...rebuild,
        page: (...given) => {
          broken += 1;
          if (broken <= 3) return Promise.reject(new Error('Connection terminated unexpectedly'));
          return rebuild.page(...given);
        },
      };
    },
  });
  const { rig, get, act } = await started({ rebuilds: wrap });
  await createTraffic(5).say(rig);
  await rig.settled();
  await act('/v1/projections/fleet/rebuild', { why: 'to see' });
  const view = await eventually(async () => {
    const { rebuild } = await projections(get);
    return rebuild?.state === 'switched' || rebuild?.state === 'failed' ? rebuild : null;
  });
  expect(view).toMatchObject({ state: 'switched', error: null });
  expect(broken).toBeGreaterThan(3);
});

test('what the rebuilding code can read is no dead letter any more; what was dropped stays out', async () => {
  const fixed: Decode = (message) => {
    const text = Buffer.from(message.payload).toString('utf8');
    return decode({ ...message, payload: Buffer.from(text.replace('"v":2', '"v":1')) });
  };
  const future = (work: string, id: string) => {
    const message = evidence(work, [attempt({ id })]);
    return {
      ...message,
      payload: Buffer.from(Buffer.from(message.payload).toString('utf8').replace('"v":1', '"v":2')),
    };
  };
  const { rig, act, get } = await started();
  await rig.say(future('W-1', 'one'), evidence('W-1', [attempt({ id: 'two' })]), future('W-2', 'three'));
  await rig.say(evidence('W-2', [attempt({ id: 'four' })]));
  await rig.settled();
  const dropped = await act('/v1/deadletters/projection-EVIDENCE-1-3/drop', { why: 'not wanted' });
  await get(`/v1/deadletters?after=${dropped.body.position}`);
  await rig.endProjecting();
  const now = apiOver(rig, fixed);
  open.push({ stop: () => now.app.close() });
  await now.act('/v1/projections/fleet/rebuild', { why: 'reads version 2 now' });
  await eventually(async () => (await projections(now.get)).generation === 2);
  const timeline = await rig.sql('select work, id from headway.timeline order by work, entry');
  expect(timeline).toEqual([
    { work: 'W-1', id: 'one' },
    { work: 'W-1', id: 'two' },
    { work: 'W-2', id: 'four' },
  ]);
  const letters = await rig.sql('select sequence::int, state, closed_by from headway.dead_letters order by sequence');
  expect(letters).toEqual([
    { sequence: 1, state: 'retried', closed_by: 'headway' },
    { sequence: 3, state: 'dropped', closed_by: 'operator' },
  ]);
  expect(await rig.sql('select * from headway.holds')).toEqual([]);
});

test('the gap scanner finds a message of the log that the archive does not hold, and no other', async () => {
  const { rig, get } = await started();
  await rig.say(...Array.from({ length: 5 }, () => evidence('W-1', [attempt()])));
  await rig.settled();
  const gapsNow = async () => (await projections(get)).gaps.find(({ stream }) => stream === 'EVIDENCE');
  await eventually(async () => (await gapsNow())?.scanned === 5, { within: 10_000 });
  expect((await gapsNow())?.missing).toEqual([]);
  await rig.endProjecting();
  await rig.sql(`delete from headway.archive where stream = 'EVIDENCE' and sequence = 3`);
  const now = apiOver(rig);
  open.push({ stop: () => now.app.close() });
  await eventually(
    async () => {
      const view = await projections(now.get);
      return view.gaps.find(({ stream }) => stream === 'EVIDENCE')?.missing.includes(3);
    },
    { within: 10_000 },
  );
  const ready = await now.get<{ checks: { gaps: { detail: { streams: object[] } } } }>('/readyz');
  expect(ready.body.checks.gaps.detail.streams).toContainEqual({
    stream: 'EVIDENCE',
    generation: 1,
    scanned: 5,
    missing: [3],
  });
});

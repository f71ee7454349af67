import { migrate, openPool, openReadModel, type ReadModel } from '@headway/readmodel';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

/** A connection in use that is silent for so long is given up. Milliseconds. */
const SILENCE = 200;
/** So long nothing is said in these tests, at the least. Seconds. */
const WELL_BEYOND = 1;

let server: TestPostgres;
let model: ReadModel;
let other: pg.Pool;
beforeAll(async () => {
  server = await startPostgres();
});
beforeEach(async () => {
  const url = await server.createDatabase();
  await migrate(url);
  model = openReadModel({ url, connections: 4, name: 'patience', silenceMs: SILENCE });
  other = openPool({ url, connections: 2, name: 'other' });
});
afterEach(async () => {
  await model?.close();
  await other?.end();
});
afterAll(() => server?.stop());

const rows = async <Row extends object>(text: string) => (await other.query<Row>(text)).rows;
const ask = () =>
  other.query(`
    insert into headway.rebuilds (projection, state, requested_by, why, requested_at)
    values ('fleet', 'requested', 'test', 'test', now())`);
const holder = async () => {
  const [found] = await rows<{ pid: number }>(`
    select pid from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`);
  return found?.pid ?? null;
};
/** Settles when the connection that holds the lock is the same one long after a silent one would have been given up. */
const heldForLong = () =>
  eventually(
    async () => {
      const found = await rows(`
        select from pg_locks join pg_stat_activity as activity using (pid)
        where locktype = 'advisory' and granted and activity.datname = current_database()
          and clock_timestamp() - activity.backend_start > interval '${WELL_BEYOND} s'`);
      return found.length > 0;
    },
    { what: 'a lock that is held for long', within: 5_000 },
  );
const known = { find: async () => new Map() } as never;

test('a rebuild stays with its worker however long nothing is said to the store', async () => {
  await ask();
  const rebuild = await model.rebuilds.takeOn('one');
  await heldForLong();
  expect(await model.rebuilds.takeOn('two')).toBeNull();
  expect(await rebuild?.write(1, known, async () => {})).toBe(true);
  await rebuild?.release();
  expect(await holder()).toBeNull();
});

test('a worker whose lock broke goes on where nobody has taken the rebuild on, and never beside another', async () => {
  await ask();
  const first = await model.rebuilds.takeOn('one');
  const broken = await holder();
  await other.query('select pg_terminate_backend($1)', [broken]);
  await eventually(async () => (await holder()) === null, { what: 'the end of the lock' });
  // It notices with its next word, and takes the lock again with its next step.
  await eventually(async () => (await first?.write(1, known, async () => {})) === true && (await holder()) !== null);
  expect(await model.rebuilds.takeOn('two')).toBeNull();

  await other.query('select pg_terminate_backend($1)', [await holder()]);
  const second = await eventually(() => model.rebuilds.takeOn('two'));
  let wrote = false;
  const written = await first?.write(1, known, async () => {
    wrote = true;
  });
  expect({ written, wrote }).toEqual({ written: false, wrote: false });
  await first?.release();
  expect(await second?.write(1, known, async () => {})).toBe(true);
  await second?.release();
});

test('indexes may take as long as they take', async () => {
  await ask();
  const rebuild = await model.rebuilds.takeOn('one');
  const blocking = await other.connect();
  await blocking.query('begin');
  await blocking.query('lock table headway_next.timeline in exclusive mode');
  const completed = rebuild?.complete();
  await eventually(
    async () => {
      const waiting = await rows(`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and clock_timestamp() - query_start > interval '${WELL_BEYOND} s'`);
      return waiting.length > 0;
    },
    { what: 'an index that is waited for', within: 5_000 },
  );
  await blocking.query('rollback');
  blocking.release();
  expect(await completed).toBe(true);
  await rebuild?.release();
});

test('who works alone on the bus stays alone for as long as it takes, and hears where that is not so any more', async () => {
  const done = await model.bus.alone(async (lost) => {
    await heldForLong();
    await expect(model.bus.alone(async () => {})).rejects.toThrow('another process');
    return lost.aborted;
  });
  expect(done).toBe(false);
  const cut = model.bus.alone(async (lost) => {
    await other.query('select pg_terminate_backend($1)', [await holder()]);
    await eventually(() => lost.aborted, { what: 'word of the loss' });
  });
  await expect(cut).rejects.toThrow();
  expect(await model.bus.alone(async () => 'again')).toBe('again');
});

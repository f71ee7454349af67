/**
 * Projection, sustained, and rebuild, each against COPY of the very rows it wrote into empty tables with their indexes, in
 * one transaction of the same server: byte-exact messages, identities and every row of the views. It reads them in its
 * binary format from files on the server's disk, twice, of which the faster counts: nothing makes the floor slower. What is
 * measured against it also fetches, decodes and folds the events, and moves its position with every batch. `node services/projection/test/measure.ts [events] [works]` prints one line of JSON.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openPool } from '@headway/readmodel';
import { eventually, startPostgres } from '@headway/testkit';
import { startRig } from './rig.ts';
import { createTraffic, PACKED } from './traffic.ts';

const events = Number(process.argv[2] ?? 100_000);
const works = Number(process.argv[3] ?? 1_000);
const WITHIN = 600_000;

/** Everything that projecting writes, and what a rebuild writes of it. */
const REBUILT = [
  'works',
  'timeline',
  'signals',
  'signal_members',
  'signal_coverage',
  'signal_recipients',
  'usage_spans',
];
const PROJECTED = ['archive', 'identities', ...REBUILT];

const seconds = (since: number) => (performance.now() - since) / 1_000;
const rounded = (value: number) => Number(value.toFixed(2));

const server = await startPostgres({ own: true });
const folder = await mkdtemp(join(tmpdir(), 'headway-measure-'));
// The server runs as another user.
await chmod(folder, 0o777);
try {
  const rig = await startRig(server);
  const traffic = createTraffic(works);
  let said = 0;
  while (said < events) said += await traffic.say(rig);

  const began = performance.now();
  rig.project();
  await rig.settled(WITHIN);
  const projecting = seconds(began);

  await rig.sql(
    `insert into headway.rebuilds (projection, state, requested_by, why, requested_at)
     values ('fleet', 'requested', 'measure', 'measure', now())`,
  );
  const newest = await eventually(
    async () => {
      const row = await rig.model.rebuilds.newest('fleet');
      if (row?.state === 'failed') throw new Error(row.error ?? 'failed');
      return row?.state === 'switched' ? row : null;
    },
    { within: WITHIN },
  );
  const rebuilding = ((newest.endedAt ?? 0) - (newest.startedAt ?? 0)) / 1_000;

  // Written and read by the server itself: nothing of a client is in the time of COPY.
  const rows: Record<string, number> = {};
  for (const table of PROJECTED) {
    const path = join(folder, table);
    await rig.unhurried(`copy headway.${table} to '${path}' with (format binary)`);
    rows[table] = Number((await rig.sql<{ n: string }>(`select count(*) as n from headway.${table}`))[0]?.n);
  }
  const url = await server.createDatabase();
  await migrate(url);
  const pool = openPool({ url, connections: 1, name: 'measure', silenceMs: WITHIN });
  const client = await pool.connect();
  const copy = async (tables: readonly string[]) => {
    await client.query(`truncate ${tables.map((table) => `headway.${table}`).join(', ')}`);
    const started = performance.now();
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    for (const table of tables)
      await client.query(`copy headway.${table} from '${join(folder, table)}' with (format binary)`);
    await client.query('commit');
    return seconds(started);
  };
  const copyAll = Math.min(await copy(PROJECTED), await copy(PROJECTED));
  const copyRebuilt = Math.min(await copy(REBUILT), await copy(REBUILT));
  client.release();
  await pool.end();
  await rig.stop();
  const total = (tables: readonly string[]) => tables.reduce((sum, table) => sum + (rows[table] ?? 0), 0);
  console.log(
    JSON.stringify({
      bench: 'projection',
      server: server.version ?? 'unknown',
      events: said,
      eventsInAMessage: PACKED,
      works,
      rows,
      projection: {
        seconds: rounded(projecting),
        eventsPerSecond: Math.round(said / projecting),
        rowsPerSecond: Math.round(total(PROJECTED) / projecting),
        copySeconds: rounded(copyAll),
        ratio: rounded(copyAll / projecting),
      },
      rebuild: {
        seconds: rounded(rebuilding),
        eventsPerSecond: Math.round(said / rebuilding),
        rowsPerSecond: Math.round(total(REBUILT) / rebuilding),
        copySeconds: rounded(copyRebuilt),
        ratio: rounded(copyRebuilt / rebuilding),
      },
    }),
  );
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

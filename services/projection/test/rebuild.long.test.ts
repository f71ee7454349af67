import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareRebuild } from './compare-rebuild.ts';

/** Fewer for a first look: `HEADWAY_REBUILD_EVENTS=50000`. */
const EVENTS = Number(process.env.HEADWAY_REBUILD_EVENTS ?? 1_000_000);

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterAll(async () => {
  await server?.stop();
});

test(`a rebuild of ${EVENTS} archived events under live traffic equals a generation that was never rebuilt`, async () => {
  const done = await compareRebuild(server, { works: 1_000, events: EVENTS, duringRebuild: 5 }, (line) =>
    console.log(line),
  );
  console.log(JSON.stringify(done));
  expect(done.events).toBeGreaterThan(EVENTS);
  expect(done.rows.timeline).toBeGreaterThan(EVENTS);
  expect(done.difference).toEqual({});
}, 3_600_000);

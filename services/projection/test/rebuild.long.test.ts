import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareRebuild } from './compare-rebuild.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterAll(async () => {
  await server?.stop();
});

test('a rebuild of 1,000,000 archived events under live traffic equals a generation that was never rebuilt', async () => {
  const done = await compareRebuild(server, { works: 1_000, events: 1_000_000, duringRebuild: 5 });
  console.log(JSON.stringify(done));
  expect(done.events).toBeGreaterThan(1_000_000);
  expect(done.difference).toEqual({});
}, 3_600_000);

import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAnywhere } from './rebuild-killed.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterAll(async () => {
  await server?.stop();
});

test('a rebuild that dies at any of its statements leaves everything as it was, and the next process ends it', async () => {
  expect(await killAnywhere(server, 10)).toBeGreaterThan(40);
}, 60_000);

import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgresClaims, migrateClaims } from '../src/index.ts';
import { race } from './race.ts';

const ROUNDS = 1_000;

describe('claims that processes race for', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres({ own: true });
    await migrateClaims(postgres.url);
  });
  afterAll(() => postgres.stop());

  it(`gives each epoch to one of two processes in ${ROUNDS} rounds each, strictly rising, also after Postgres was killed`, async () => {
    const first = await race(postgres.url, ROUNDS / 2);
    expectFair(first, 0);
    const last = Math.max(...first.flat());
    await postgres.kill9();
    await postgres.restart();
    const second = await race(postgres.url, ROUNDS / 2);
    expectFair(second, last);
  });

  it('keeps a granted epoch when Postgres is killed at once', async () => {
    const claims = connectPostgresClaims(postgres.url);
    const [granted] = await claims.acquire(['kept'], 'one', 0.01);
    await postgres.kill9();
    await claims.close();
    await postgres.restart();
    const again = connectPostgresClaims(postgres.url);
    const [next] = await again.acquire(['kept'], 'one', 60);
    expect(next?.epoch).toBeGreaterThan(granted?.epoch as number);
    await again.close();
  });
});

/** No epoch twice, each rising for its process, none at or below `after`, and no process shut out. */
export function expectFair(granted: readonly (readonly number[])[], after: number): void {
  const all = granted.flat();
  expect(new Set(all).size).toBe(all.length);
  expect(Math.min(...all)).toBeGreaterThan(after);
  for (const own of granted) expect(own).toEqual([...own].sort((a, b) => a - b));
  expect(Math.max(...all) - after).toBe(all.length);
}

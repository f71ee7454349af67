import { startPostgres } from '@headway/testkit';
import { expect, it } from 'vitest';
import { migrateClaims } from '../src/index.ts';
import { race } from './race.ts';

const ROUNDS = 10_000;

it(`gives each epoch to one of two processes in ${ROUNDS} rounds, strictly rising`, async () => {
  const postgres = await startPostgres({ own: true });
  try {
    await migrateClaims(postgres.url);
    const granted = await race(postgres.url, ROUNDS);
    const all = granted.flat();
    expect(new Set(all).size).toBe(all.length);
    for (const own of granted) expect(own).toEqual([...own].sort((a, b) => a - b));
    expect(Math.max(...all)).toBe(all.length);
  } finally {
    await postgres.stop();
  }
});

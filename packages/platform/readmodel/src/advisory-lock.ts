import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './tables.ts';

export interface HeldLock {
  /** Aborts when its connection broke: from then on somebody else may hold it. Noticed within the interval of keeping it. */
  readonly lost: AbortSignal;
  /** Never rejects. */
  release(): Promise<void>;
}

/**
 * Takes an advisory lock without waiting: `null` where somebody else has it. It lives as long as its connection, so that
 * it ends with a process that dies; something is said on the connection every `keepAliveMs`, since a silent one is given up
 * (see `SILENCE`) and the lock with it.
 */
export async function tryLock(
  db: Kysely<Database>,
  key: RawBuilder<unknown>,
  keepAliveMs: number,
): Promise<HeldLock | null> {
  const released = new AbortController();
  const lost = new AbortController();
  const got = Promise.withResolvers<boolean>();
  const holding = db.connection().execute(async (connection) => {
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(connection);
    got.resolve(rows[0]?.locked === true);
    if (rows[0]?.locked !== true) return;
    while (!released.signal.aborted) {
      await delay(keepAliveMs, undefined, { signal: released.signal, ref: false }).catch(() => undefined);
      if (!released.signal.aborted) await sql`select 1`.execute(connection);
    }
    await sql`select pg_advisory_unlock(${key})`.execute(connection);
  });
  const ended = holding.catch((error: unknown) => {
    got.reject(error);
    lost.abort(error);
  });
  if (!(await got.promise)) return null;
  return {
    lost: lost.signal,
    release: () => {
      released.abort();
      return ended;
    },
  };
}

import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';

/** Who asked, why, and when in milliseconds since the Unix epoch. */
export interface Asked {
  readonly by: string;
  readonly why: string;
  readonly at: number;
}

/** Takes down that a projection is to be rebuilt. While one is under way another changes nothing. */
export async function requestRebuild(db: Kysely<Database>, projection: string, { by, why, at }: Asked): Promise<void> {
  await sql`
    insert into headway.rebuilds (projection, state, requested_by, why, requested_at)
    select name, 'requested', ${by}, ${why}, ${new Date(at).toISOString()}
    from headway.projections where name = ${projection}
    on conflict do nothing`.execute(db);
}

/** Calls a rebuild off. Who works on it finds out with the next transaction and leaves the living generation as it is. */
export async function cancelRebuild(db: Kysely<Database>, projection: string, { by, why, at }: Asked): Promise<void> {
  await sql`
    update headway.rebuilds
    set state = 'cancelled', ended_at = ${new Date(at).toISOString()}, error = ${`called off by ${by}: ${why}`}
    where projection = ${projection} and state in ('requested', 'running')`.execute(db);
}

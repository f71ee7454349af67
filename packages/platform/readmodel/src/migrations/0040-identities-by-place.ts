import { type Kysely, sql } from 'kysely';

/**
 * Identities are written in the order of their places and never change, so that ranges of blocks tell where those of a
 * range of messages stand: an index that costs next to nothing to keep.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index identities_by_place on headway.identities
    using brin (generation, sequence) with (autosummarize = on)`.execute(db);
}

import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';

export interface GapQuery {
  readonly stream: string;
  readonly generation: number;
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** The lowest sequences after `after`, up to `upTo`, that the archive does not hold; at most `limit`. */
export async function absentFromArchive(
  db: Kysely<Database>,
  { stream, generation, after, upTo, limit }: GapQuery,
): Promise<readonly number[]> {
  // Of a stream that was put back with a new generation, what was there before is archived under the former one.
  const inGeneration = sql`archive.generation = any(array(
    select ${generation}::integer
    union select generation from headway.bus_generations where stream = ${stream} and generation < ${generation}
  ))`;
  // Counted first: nearly always everything is there.
  const { rows: counted } = await sql<{ there: number }>`
    select count(distinct sequence)::integer as there from headway.archive
    where stream = ${stream} and ${inGeneration} and sequence > ${after} and sequence <= ${upTo}`.execute(db);
  if (counted[0]?.there === upTo - after) return [];
  const { rows } = await sql<{ sequence: number }>`
    select sequence from generate_series(${after}::bigint + 1, ${upTo}::bigint) as wanted(sequence)
    where not exists (
      select from headway.archive as archive
      where archive.stream = ${stream} and ${inGeneration} and archive.sequence = wanted.sequence
    )
    order by sequence limit ${limit}`.execute(db);
  return rows.map(({ sequence }) => sequence);
}

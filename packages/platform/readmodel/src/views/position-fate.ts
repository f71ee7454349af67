import type { StreamPosition } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';

/**
 * What became of a position when its stream was put back: `kept` = of a former generation, and the same message stands
 * there still; `lost` = what stood there was lost with the tail; `current` = nothing of the kind happened to it.
 */
export type PositionFate = 'kept' | 'lost' | 'current';

export async function positionFate(
  db: Kysely<Database>,
  { stream, generation, sequence }: StreamPosition,
): Promise<PositionFate> {
  const { rows } = await sql<{ lost: boolean; ended_at: number | null }>`
    select
      exists (
        select from headway.bus_gaps
        where stream = ${stream} and generation = ${generation} and ${sequence} between first and last
      ) as lost,
      (select last_sequence from headway.bus_generations
        where stream = ${stream} and generation = ${generation}) as ended_at`.execute(db);
  const [row] = rows;
  if (row?.lost === true) return 'lost';
  if (row === undefined || row.ended_at === null) return 'current';
  return sequence <= row.ended_at ? 'kept' : 'lost';
}

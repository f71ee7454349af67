import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';

/** The reader whose position is the archive's: it moves in one transaction with the archive and the read models. */
export const ARCHIVE_READER = 'projection';
/** The reader that opens and closes signals; it tells how far it got by `record.position.signaller`. */
export const SIGNALLER = 'signaller';

export interface Place {
  /** 0 together with sequence 0: nothing was read yet. */
  readonly generation: number;
  readonly sequence: number;
}

export interface ReaderPlace extends Place {
  /** ISO time of the stream's creation as the reader knew it; `null` before its first message. */
  readonly created: string | null;
}

export const nowhere: ReaderPlace = { generation: 0, sequence: 0, created: null };

export async function readPlace(db: Kysely<Database>, reader: string, stream: string): Promise<ReaderPlace> {
  const { rows } = await sql<ReaderPlace>`
    select generation, sequence, created from headway.positions where reader = ${reader} and stream = ${stream}`.execute(
    db,
  );
  return rows[0] ?? nowhere;
}

/** Moves a position from where it is expected to be; `false` when it is elsewhere, and then nothing has changed. */
export async function movePlace(
  db: Kysely<Database>,
  reader: string,
  stream: string,
  from: Place,
  to: ReaderPlace,
): Promise<boolean> {
  if (from.sequence === 0 && from.generation === 0)
    await sql`
      insert into headway.positions (reader, stream, generation, sequence)
      values (${reader}, ${stream}, 0, 0) on conflict do nothing`.execute(db);
  const { numAffectedRows } = await sql`
    update headway.positions
    set generation = ${to.generation}, sequence = ${to.sequence}, created = ${to.created}, updated_at = now()
    where reader = ${reader} and stream = ${stream}
      and generation = ${from.generation} and sequence = ${from.sequence}`.execute(db);
  return numAffectedRows === 1n;
}

/** Notes how far another reader says it got. */
export async function rememberPlace(db: Kysely<Database>, reader: string, stream: string, at: Place): Promise<void> {
  await sql`
    insert into headway.positions (reader, stream, generation, sequence)
    values (${reader}, ${stream}, ${at.generation}, ${at.sequence})
    on conflict (reader, stream) do update
    set generation = excluded.generation, sequence = excluded.sequence, updated_at = now()`.execute(db);
}

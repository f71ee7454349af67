import { type Kysely, sql, type Transaction } from 'kysely';
import { tryLock } from '../advisory-lock.ts';
import type { ArchivedMessage } from '../rows.ts';
import type { Database } from '../tables.ts';
import { ARCHIVE_READER, type ReaderPlace } from '../write/positions.ts';
import { type Column, chunksOf, rowsOf } from '../write/unnest.ts';

/** How far a stream is archived, and what is known to be lost behind that. */
export interface ArchivedEnd extends ReaderPlace {
  readonly stream: string;
  /** The newest sequence that a service saw and that the stream had lost since; 0 = nothing of the kind is known. */
  readonly lostUpTo: number;
}

/** Sequences of acknowledged messages that no copy was left of. */
export interface Gap {
  readonly first: number;
  readonly last: number;
}

/** A message that was written after the stream had lost its tail. */
export interface KeptMessage extends ArchivedMessage {
  readonly id: number;
  /** Up to where the stream agreed with the archive when it was written. */
  readonly agreed: number;
}

/**
 * `waiting`: to be appended. `appended`, `known`: every fact of it stands elsewhere. `derived`: the classifier makes it
 * again. `set-aside`: it contradicts what the archive has, and stays here for a person.
 */
export type Fate = 'waiting' | 'appended' | 'known' | 'derived' | 'set-aside';

/** What Postgres knows of the streams, for writers that must be sure of them and for putting them back. */
export interface BusRecords {
  /** Every stream that has been archived. */
  archivedEnds(): Promise<readonly ArchivedEnd[]>;
  noteLoss(loss: { readonly stream: string; readonly generation: number; readonly seen: number }): Promise<void>;
  /** The archived message at a sequence, of the newest generation that has one. */
  archivedAt(stream: string, sequence: number): Promise<ArchivedMessage | null>;
  /** Up to where messages were taken out of a stream; 0 = none were. */
  trimmedUpTo(stream: string): Promise<number>;
  noteTrim(stream: string, generation: number, sequence: number): Promise<void>;
  /** Keeps messages that have to leave a stream for a while; all or none. */
  keep(messages: readonly ArchivedMessage[], agreed: number): Promise<void>;
  /** The kept messages of a stream that have no fate yet, in their order. */
  waiting(stream: string): Promise<readonly KeptMessage[]>;
  decide(id: number, fate: Fate, appendedAt: number | null): Promise<void>;
  /** Whether the archive has a message under a subject after a sequence. */
  movedAfter(stream: string, subject: string, sequence: number): Promise<boolean>;
  /** The stream stands again: notes the gap and, where it has a new generation, moves the archive's place into it. */
  restored(done: Restored): Promise<void>;
  gaps(stream: string): Promise<readonly Gap[]>;
  /** Up to where the positions of a former generation are true; `null` = the generation is not known. */
  generationEnd(stream: string, generation: number): Promise<number | null>;
  /**
   * Runs alone among all processes that put back or trim; throws where another one is at it. `lost` aborts where the store
   * was out of reach meanwhile, so that another one may have begun: the step is to end, and `alone` throws.
   */
  alone<Value>(step: (lost: AbortSignal) => Promise<Value>): Promise<Value>;
}

export interface Restored {
  readonly stream: string;
  readonly from: ReaderPlace;
  readonly generation: number;
  readonly created: string;
  readonly gap: Gap | null;
}

/** An arbitrary number that means: somebody handles the bus. */
const LOCK = 7_204_118_355;

const keptColumns: readonly Column<ArchivedMessage & { agreed: number }>[] = [
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['agreed', 'bigint', (row) => row.agreed],
  ['subject', 'text', (row) => row.subject],
  ['headers', 'json', (row) => row.headers],
  ['message_id', 'text', (row) => row.messageId],
  ['payload', 'bytea', (row) => Buffer.from(row.payload)],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
  ['fate', 'text', () => 'waiting'],
];

interface StoredMessage {
  stream: string;
  generation: number;
  sequence: number;
  subject: string;
  headers: Record<string, string>;
  message_id: string | null;
  payload: Buffer;
  recorded_at: Date;
}

const messageOf = (row: StoredMessage): ArchivedMessage => ({
  stream: row.stream,
  generation: row.generation,
  sequence: row.sequence,
  subject: row.subject,
  headers: row.headers,
  ...(row.message_id === null ? {} : { messageId: row.message_id }),
  payload: row.payload,
  recordedAt: row.recorded_at.getTime(),
});

export function busRecords(db: Kysely<Database>, keepAliveMs: number): BusRecords {
  const numberOf = async (query: ReturnType<typeof sql<{ value: number | null }>>) =>
    (await query.execute(db)).rows[0]?.value ?? null;
  return {
    async archivedEnds() {
      const { rows } = await sql<ArchivedEnd>`
        select stream, generation, sequence, created,
          coalesce((select max(seen) from headway.bus_losses l where l.stream = p.stream), 0) as "lostUpTo"
        from headway.positions p where reader = ${ARCHIVE_READER} and generation > 0 order by stream`.execute(db);
      return rows;
    },
    async noteLoss({ stream, generation, seen }) {
      await sql`
        insert into headway.bus_losses (stream, generation, seen) values (${stream}, ${generation}, ${seen})
        on conflict (stream, generation) do update set seen = greatest(bus_losses.seen, excluded.seen)`.execute(db);
    },
    async archivedAt(stream, sequence) {
      const { rows } = await sql<StoredMessage>`
        select * from headway.archive
        where stream = ${stream} and sequence = ${sequence} and generation = any(array(
          select generation from headway.bus_generations where stream = ${stream}
          union select generation from headway.positions where stream = ${stream} and reader = ${ARCHIVE_READER}))
        order by generation desc limit 1`.execute(db);
      return rows[0] === undefined ? null : messageOf(rows[0]);
    },
    trimmedUpTo: async (stream) =>
      (await numberOf(sql`select max(sequence) as value from headway.bus_trims where stream = ${stream}`)) ?? 0,
    async noteTrim(stream, generation, sequence) {
      await sql`
        insert into headway.bus_trims (stream, generation, sequence) values (${stream}, ${generation}, ${sequence})
        on conflict (stream, generation) do update
        set sequence = greatest(bus_trims.sequence, excluded.sequence), trimmed_at = now()`.execute(db);
    },
    async keep(messages, agreed) {
      await db.transaction().execute(async (tx) => {
        for (const chunk of chunksOf(messages.map((message) => ({ ...message, agreed }))))
          await sql`insert into headway.bus_kept ${rowsOf(keptColumns, chunk)}`.execute(tx);
      });
    },
    async waiting(stream) {
      const { rows } = await sql<StoredMessage & { id: number; agreed: number }>`
        select * from headway.bus_kept where stream = ${stream} and fate = 'waiting' order by id`.execute(db);
      return rows.map((row) => ({ ...messageOf(row), id: row.id, agreed: row.agreed }));
    },
    async decide(id, fate, appendedAt) {
      await sql`update headway.bus_kept set fate = ${fate}, appended_at = ${appendedAt} where id = ${id}`.execute(db);
    },
    movedAfter: async (stream, subject, sequence) =>
      (await numberOf(
        sql`select sequence as value from headway.archive
          where stream = ${stream} and subject = ${subject} and sequence > ${sequence} limit 1`,
      )) !== null,
    restored: (done) => db.transaction().execute((tx) => noteRestored(tx, done)),
    async gaps(stream) {
      const { rows } = await sql<Gap>`
        select first, last from headway.bus_gaps where stream = ${stream} order by generation, first`.execute(db);
      return rows;
    },
    generationEnd: (stream, generation) =>
      numberOf(
        sql`select last_sequence as value from headway.bus_generations
          where stream = ${stream} and generation = ${generation}`,
      ),
    async alone(step) {
      const locked = await tryLock(db, sql`${LOCK}`, keepAliveMs);
      if (locked === null)
        throw new Error('another process puts the bus back or trims it now: wait for it, then look again');
      try {
        const value = await step(locked.lost);
        locked.lost.throwIfAborted();
        return value;
      } finally {
        await locked.release();
      }
    },
  };
}

async function noteRestored(
  tx: Transaction<Database>,
  { stream, from, generation, created, gap }: Restored,
): Promise<void> {
  if (gap !== null)
    await sql`
      insert into headway.bus_gaps (stream, generation, first, last)
      values (${stream}, ${from.generation}, ${gap.first}, ${gap.last}) on conflict do nothing`.execute(tx);
  await sql`delete from headway.bus_losses where stream = ${stream}`.execute(tx);
  if (generation === from.generation) return;
  await sql`
    insert into headway.bus_generations (stream, generation, last_sequence)
    values (${stream}, ${from.generation}, ${from.sequence}) on conflict do nothing`.execute(tx);
  const { numAffectedRows } = await sql`
    update headway.positions set generation = ${generation}, created = ${created}, updated_at = now()
    where stream = ${stream} and reader = ${ARCHIVE_READER}
      and generation = ${from.generation} and sequence = ${from.sequence}`.execute(tx);
  if (numAffectedRows !== 1n)
    throw new Error(`the archive of ${stream} moved while the stream was put back: run the command again`);
}

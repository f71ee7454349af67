import type { Aggregate } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import type { DeadLetterRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf, rowsOf, storableText } from './unnest.ts';

/** A message that waits behind a dead letter of its aggregate. It stands in the archive. */
export interface WaitingRow {
  readonly aggregate: string;
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
}

/** Those of the aggregates that are held. */
export async function findHolds(db: Kysely<Database>, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  // Asked first without the keys: nearly always nothing is held anywhere.
  const { rows: any } = await sql`select from headway.holds limit 1`.execute(db);
  if (any.length === 0) return new Set();
  const held = new Set<string>();
  for (const chunk of chunksOf(keys)) {
    const { rows } = await sql<{ aggregate: string }>`
      select aggregate from headway.holds where aggregate = any(${chunk.map(storableText)}::text[])`.execute(db);
    for (const { aggregate } of rows) held.add(aggregate);
  }
  return held;
}

const holdColumns: readonly Column<DeadLetterRow>[] = [
  ['aggregate', 'text', (row) => row.aggregate.key],
  ['tenant', 'text', (row) => row.aggregate.tenant],
  ['work', 'text', (row) => row.aggregate.work],
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['subject', 'text', (row) => row.subject],
  ['error', 'text', (row) => row.error],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
];

/** Holds the aggregates of the letters, none of which is held yet; each aggregate at most once. */
export async function hold(db: Kysely<Database>, letters: readonly DeadLetterRow[]): Promise<void> {
  for (const chunk of chunksOf(letters)) await sql`insert into headway.holds ${rowsOf(holdColumns, chunk)}`.execute(db);
}

const waitingColumns: readonly Column<WaitingRow>[] = [
  ['aggregate', 'text', (row) => row.aggregate],
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
];

/** Lets messages wait, the one that is held for included. */
export async function letWait(db: Kysely<Database>, rows: readonly WaitingRow[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`insert into headway.waiting ${rowsOf(waitingColumns, chunk)}`.execute(db);
}

/** Ends a hold. Answers with where the messages stand that waited: evidence before what was made of it, each in order. */
export async function releaseHold(db: Kysely<Database>, aggregate: string): Promise<readonly WaitingRow[]> {
  await sql`delete from headway.holds where aggregate = ${storableText(aggregate)}`.execute(db);
  const { rows } = await sql<WaitingRow>`
    delete from headway.waiting where aggregate = ${storableText(aggregate)}
    returning aggregate, stream, generation, sequence`.execute(db);
  return rows.sort(
    (a, b) =>
      Number(a.stream !== 'EVIDENCE') - Number(b.stream !== 'EVIDENCE') ||
      a.stream.localeCompare(b.stream) ||
      a.generation - b.generation ||
      a.sequence - b.sequence,
  );
}

/** Everything that is held, by the message that could not be handled. */
export async function listHolds(db: Kysely<Database>): Promise<readonly DeadLetterRow[]> {
  const { rows } = await sql<{
    aggregate: string;
    tenant: string | null;
    work: string | null;
    stream: string;
    generation: number;
    sequence: number;
    subject: string;
    error: string;
    recorded_at: Date;
  }>`select * from headway.holds order by stream, generation, sequence`.execute(db);
  return rows.map(({ aggregate: key, tenant, work, recorded_at, ...row }) => ({
    ...row,
    reader: 'projection',
    aggregate: { key, tenant, work } satisfies Aggregate,
    recordedAt: recorded_at.getTime(),
  }));
}

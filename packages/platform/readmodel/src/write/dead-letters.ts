import type { LetterPlace } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import type { DeadLetterRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf, rowsOf } from './unnest.ts';

const columns: readonly Column<DeadLetterRow>[] = [
  ['reader', 'text', (row) => row.reader],
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['subject', 'text', (row) => row.subject],
  ['aggregate', 'text', (row) => row.aggregate.key],
  ['tenant', 'text', (row) => row.aggregate.tenant],
  ['work', 'text', (row) => row.aggregate.work],
  ['error', 'text', (row) => row.error],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
];

/**
 * Keeps dead letters, each message at most once in `letters`. One that is known already was tried again and failed: it
 * is open again. One that was dropped stays dropped.
 */
export async function keepDeadLetters(db: Kysely<Database>, letters: readonly DeadLetterRow[]): Promise<void> {
  for (const chunk of chunksOf(letters))
    await sql`
      insert into headway.dead_letters as kept ${rowsOf(columns, chunk)}
      on conflict (reader, stream, generation, sequence) do update
      set state = 'open', error = excluded.error, attempts = kept.attempts + 1,
        closed_at = null, closed_by = null, why = null
      where kept.state <> 'dropped'`.execute(db);
}

export interface Closing {
  readonly state: 'retried' | 'dropped';
  readonly by: string;
  readonly why: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Closes one dead letter. Answers with whether it was open. */
export async function closeLetter(
  db: Kysely<Database>,
  { reader, stream, generation, sequence }: LetterPlace,
  { state, by, why, at }: Closing,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update headway.dead_letters
    set state = ${state}, closed_by = ${by}, why = ${why}, closed_at = ${new Date(at).toISOString()}
    where reader = ${reader} and stream = ${stream} and generation = ${generation} and sequence = ${sequence}
      and state = 'open'`.execute(db);
  return numAffectedRows === 1n;
}

/** Those of the messages that were dropped by an operator: nobody handles them again. */
export async function droppedAmong(
  db: Kysely<Database>,
  messages: readonly { readonly stream: string; readonly generation: number; readonly sequence: number }[],
): Promise<readonly Omit<LetterPlace, 'reader'>[]> {
  const [first] = messages;
  if (first === undefined) return [];
  const sequences = messages.map(({ sequence }) => sequence);
  const { rows } = await sql<Omit<LetterPlace, 'reader'>>`
    select stream, generation, sequence from headway.dead_letters
    where reader = 'projection' and state = 'dropped' and stream = ${first.stream}
      and sequence = any(${sequences}::bigint[])`.execute(db);
  return rows;
}

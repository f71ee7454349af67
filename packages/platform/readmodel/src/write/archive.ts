import type { Kysely } from 'kysely';
import { copyInto } from '../copy.ts';
import type { ArchivedMessage } from '../rows.ts';
import type { Database } from '../tables.ts';
import type { Column } from './unnest.ts';

const archiveColumns: readonly Column<ArchivedMessage>[] = [
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['subject', 'text', (row) => row.subject],
  ['headers', 'json', (row) => row.headers],
  ['message_id', 'text', (row) => row.messageId],
  ['payload', 'bytea', (row) => row.payload],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
];

/** A message that already stands in the archive is a broken invariant (its position would have moved): it throws. */
export async function archiveMessages(db: Kysely<Database>, messages: readonly ArchivedMessage[]): Promise<void> {
  await copyInto(db, 'archive', archiveColumns, messages);
}

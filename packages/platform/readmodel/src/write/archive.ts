import { type Kysely, sql } from 'kysely';
import type { ArchivedMessage } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf, rowsOf } from './unnest.ts';

/** Bytes of payload in one statement; a single larger message still goes alone. */
const STATEMENT_BYTES = 8 * 1024 * 1024;

const archiveColumns: readonly Column<ArchivedMessage>[] = [
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['subject', 'text', (row) => row.subject],
  ['headers', 'json', (row) => row.headers],
  ['message_id', 'text', (row) => row.messageId],
  ['payload', 'bytea', (row) => asBuffer(row.payload)],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
];

/** A message that already stands in the archive is a broken invariant (its position would have moved): it throws. */
export async function archiveMessages(db: Kysely<Database>, messages: readonly ArchivedMessage[]): Promise<void> {
  for (const chunk of chunksOf(messages))
    for (const part of byBytes(chunk))
      await sql`insert into headway.archive ${rowsOf(archiveColumns, part)}`.execute(db);
}

function* byBytes(messages: readonly ArchivedMessage[]): Generator<readonly ArchivedMessage[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { payload }] of messages.entries()) {
    if (at > from && bytes + payload.length > STATEMENT_BYTES) {
      yield messages.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += payload.length;
  }
  if (from < messages.length) yield messages.slice(from);
}

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

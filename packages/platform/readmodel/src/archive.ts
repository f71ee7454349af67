import { type Kysely, type Selectable, sql } from 'kysely';
import type { ArchivedMessage } from './rows.ts';
import type { ArchiveTable, Database } from './tables.ts';
import { findIdentities } from './write/identities.ts';
import { ARCHIVE_READER, type Place, readPlace } from './write/positions.ts';

/** Messages fetched from the archive at once. */
export const ARCHIVE_PAGE = 500;

/** What ingest asks before it accepts: is this identity taken, and by which content? */
export interface IdentityArchive {
  /** Up to where in EVIDENCE every identity is known here. Generation and sequence 0: nothing is archived yet. */
  archived(): Promise<Place>;
  /** The identities that stand among `keys`; keys and contents are SHA-256 in hex. Throws when the store is away. */
  lookup(keys: readonly string[]): Promise<Map<string, { readonly content: string; readonly sequence: number }>>;
}

export const identityArchive = (db: Kysely<Database>): IdentityArchive => ({
  async archived() {
    const { generation, sequence } = await readPlace(db, ARCHIVE_READER, 'EVIDENCE');
    return { generation, sequence };
  },
  async lookup(keys) {
    const found = await findIdentities(db, keys);
    return new Map([...found].map(([key, { content, sequence }]) => [key, { content, sequence }]));
  },
});

/**
 * Every archived message of a stream after a place, in order of generation and sequence, byte for byte; ends with the
 * newest.
 */
export async function* readArchive(
  db: Kysely<Database>,
  stream: string,
  after: Place = { generation: 0, sequence: 0 },
): AsyncGenerator<ArchivedMessage> {
  let { generation, sequence } = after;
  for (;;) {
    const { rows } = await sql<Selectable<ArchiveTable>>`
      select * from headway.archive
      where stream = ${stream} and (generation, sequence) > (${generation}, ${sequence})
      order by generation, sequence limit ${ARCHIVE_PAGE}`.execute(db);
    for (const row of rows) {
      ({ generation, sequence } = row);
      yield {
        stream: row.stream,
        generation,
        sequence,
        subject: row.subject,
        headers: row.headers,
        ...(row.message_id === null ? {} : { messageId: row.message_id }),
        payload: row.payload,
        recordedAt: row.recorded_at.getTime(),
      };
    }
    if (rows.length < ARCHIVE_PAGE) return;
  }
}

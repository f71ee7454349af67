import { type Kysely, type Selectable, sql } from 'kysely';
import { copyFromQuery } from './copy.ts';
import type { Fields } from './copy-format.ts';
import type { ArchivedMessage } from './rows.ts';
import type { ArchiveTable, Database } from './tables.ts';
import { findIdentities } from './write/identities.ts';
import { ARCHIVE_READER, type Place, readPlace } from './write/positions.ts';

/** Bytes of payload fetched from the archive at once; a single larger message still comes alone. */
const PAGE_BYTES = 16 * 1024 * 1024;
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

/** Archived messages by where they stand, in the order given; what is not there is left out. */
export async function readArchived(
  db: Kysely<Database>,
  places: readonly { readonly stream: string; readonly generation: number; readonly sequence: number }[],
): Promise<ArchivedMessage[]> {
  const { rows } = await sql<Selectable<ArchiveTable>>`
    select archive.* from unnest(
      ${places.map(({ stream }) => stream)}::text[],
      ${places.map(({ generation }) => generation)}::integer[],
      ${places.map(({ sequence }) => sequence)}::bigint[]
    ) with ordinality as wanted(stream, generation, sequence, at)
    join headway.archive using (stream, generation, sequence)
    order by wanted.at`.execute(db);
  return rows.map(asMessage);
}

/** At most `limit` messages after a place, and fewer where they are large: none only where there is none. */
export async function readArchivePage(
  db: Kysely<Database>,
  stream: string,
  after: Place,
  limit: number,
): Promise<ArchivedMessage[]> {
  const page = await copyFromQuery(
    db,
    sql`
    select generation, sequence, subject, headers, message_id, payload, recorded_at from (
      select page.*, sum(octet_length(payload)) over (order by generation, sequence) - octet_length(payload) as before
      from (
        select * from headway.archive
        where stream = ${sql.lit(stream)}
          and (generation, sequence) > (${sql.lit(after.generation)}, ${sql.lit(after.sequence)})
        order by generation, sequence limit ${sql.lit(limit)}
      ) as page
    ) as counted
    where before < ${sql.lit(PAGE_BYTES)} order by generation, sequence`,
  );
  return Array.from(page, (fields) => readFields(stream, fields));
}

function readFields(stream: string, fields: Fields): ArchivedMessage {
  const [generation, sequence, subject] = [fields.integer(), fields.bigint(), fields.text()];
  const headers = JSON.parse(fields.text()) as ArchivedMessage['headers'];
  const [messageId, payload, recordedAt] = [fields.textOrNull(), fields.bytes(), fields.time()];
  return {
    stream,
    generation,
    sequence,
    subject,
    headers,
    ...(messageId === null ? {} : { messageId }),
    payload,
    recordedAt,
  };
}

const asMessage = (row: Selectable<ArchiveTable>): ArchivedMessage => ({
  stream: row.stream,
  generation: row.generation,
  sequence: row.sequence,
  subject: row.subject,
  headers: row.headers,
  ...(row.message_id === null ? {} : { messageId: row.message_id }),
  payload: row.payload,
  recordedAt: row.recorded_at.getTime(),
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
  let from = after;
  for (;;) {
    const page = await readArchivePage(db, stream, from, ARCHIVE_PAGE);
    yield* page;
    from = page.at(-1) ?? from;
    if (page.length === 0) return;
  }
}

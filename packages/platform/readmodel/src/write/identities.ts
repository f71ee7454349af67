import { type Kysely, sql } from 'kysely';
import { copyFromQuery, copyInto } from '../copy.ts';
import type { IdentityRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf } from './unnest.ts';

/** Keys of one question. */
const KEYS_AT_ONCE = 10_000;

const columns: readonly Column<IdentityRow>[] = [
  ['key', 'bytea', (row) => Buffer.from(row.key, 'hex')],
  ['content', 'bytea', (row) => Buffer.from(row.content, 'hex')],
  ['tenant', 'text', (row) => row.tenant],
  ['work', 'text', (row) => row.work],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['reported_at', 'text', (row) => row.reportedAt],
];

/**
 * Takes identities, in the order given; the first one stands for ever. Answers with the indexes of the rows that were
 * new: a row whose key stood already, or came earlier in the same list, is not among them. Call it where nobody else
 * takes any until the end of the transaction: {@link nextChange} sees to that.
 */
export async function takeIdentities(
  db: Kysely<Database>,
  identities: readonly IdentityRow[],
): Promise<ReadonlySet<number>> {
  const first = new Map<string, number>();
  for (const [at, { key }] of identities.entries()) if (!first.has(key)) first.set(key, at);
  for (const chunk of chunksOf([...first.keys()], KEYS_AT_ONCE)) {
    const { rows } = await sql<{ key: Buffer }>`
      select key from headway.identities where key = any(${bytesOf(chunk)}::bytea[])`.execute(db);
    for (const { key } of rows) first.delete(key.toString('hex'));
  }
  const fresh = [...first.values()];
  await copyInto(
    db,
    'identities',
    columns,
    fresh.map((at) => identities[at] as IdentityRow),
  );
  return new Set(fresh);
}

export interface StandingIdentity {
  readonly content: string;
  readonly generation: number;
  readonly sequence: number;
  readonly reportedAt: string | null;
}

/** The identities that stand among `keys`, by key. */
export async function findIdentities(
  db: Kysely<Database>,
  keys: readonly string[],
): Promise<Map<string, StandingIdentity>> {
  const found = new Map<string, StandingIdentity>();
  for (const chunk of chunksOf([...new Set(keys)], KEYS_AT_ONCE)) {
    const { rows } = await sql<{
      key: Buffer;
      content: Buffer;
      generation: number;
      sequence: number;
      reported_at: string | null;
    }>`
      select key, content, generation, sequence, reported_at from headway.identities
      where key = any(${bytesOf(chunk)}::bytea[])`.execute(db);
    for (const { key, content, generation, sequence, reported_at: reportedAt } of rows)
      found.set(key.toString('hex'), { content: content.toString('hex'), generation, sequence, reportedAt });
  }
  return found;
}

/** A range of messages of EVIDENCE. */
export interface PlaceRange {
  readonly generation: number;
  readonly first: number;
  readonly last: number;
}

/** The identities that stand at the messages of a range, by key. */
export async function identitiesAt(
  db: Kysely<Database>,
  { generation, first, last }: PlaceRange,
): Promise<Map<string, StandingIdentity>> {
  const rows = await copyFromQuery(
    db,
    sql`
    select key, content, sequence, reported_at from headway.identities
    where generation = ${sql.lit(generation)} and sequence between ${sql.lit(first)} and ${sql.lit(last)}`,
  );
  const found = new Map<string, StandingIdentity>();
  for (const row of rows) {
    const [key, content] = [hexOf(row.bytes()), hexOf(row.bytes())];
    found.set(key, { content, generation, sequence: row.bigint(), reportedAt: row.textOrNull() });
  }
  return found;
}

/** Lets {@link identitiesAt} find what came since the last time without going over all. */
export const summarizeIdentities = async (db: Kysely<Database>): Promise<void> => {
  await sql`select brin_summarize_new_values('headway.identities_by_place')`.execute(db);
};

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
const bytesOf = (keys: readonly string[]) => keys.map((key) => Buffer.from(key, 'hex'));

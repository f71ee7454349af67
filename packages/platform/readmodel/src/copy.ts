import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { decodeRows, encodeRows, type Fields } from './copy-format.ts';
import type { Database } from './tables.ts';
import type { Column } from './write/unnest.ts';

/** What a COPY sends, as the parameter of its statement. */
class Copied {
  readonly chunks: Iterable<Buffer>;
  constructor(chunks: Iterable<Buffer>) {
    this.chunks = chunks;
  }
}

/** Says that what a COPY sends back is wanted, as the parameter of its statement. */
class Wanted {}

/**
 * A client to which COPY is a statement like others: the rows are its parameter. So it runs where every statement of a
 * transaction runs, and is turned to another schema as all others are.
 */
export class CopyingClient extends pg.Client {
  override query(...given: unknown[]): never {
    const [text, values] = given as [string, unknown[] | undefined];
    const last = Array.isArray(values) ? values.at(-1) : undefined;
    if (last instanceof Copied) return this.#copy(text, last) as never;
    if (last instanceof Wanted) return this.#receive(text) as never;
    return (super.query as (...all: unknown[]) => unknown)(...given) as never;
  }

  async #copy(text: string, { chunks }: Copied): Promise<{ command: string; rowCount: number; rows: never[] }> {
    const stream = super.query(copyFrom(text));
    await pipeline(Readable.from(chunks), stream);
    return { command: 'COPY', rowCount: stream.rowCount, rows: [] };
  }

  async #receive(text: string): Promise<{ command: string; rowCount: number; rows: { all: Buffer }[] }> {
    const stream = super.query(copyTo(text));
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    return { command: 'COPY', rowCount: stream.rowCount, rows: [{ all: Buffer.concat(chunks) }] };
  }
}

/**
 * Appends rows to a table of ours: half the price of an insert, and none of its answers to a conflict. A value that its
 * column cannot hold throws a TypeError or RangeError; what the table refuses is thrown as the server says it.
 */
export async function copyInto<Row>(
  db: Kysely<Database>,
  table: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = sql.join(columns.map(([name]) => sql.ref(name)));
  const copied = new Copied(encodeRows(columns, rows));
  // The placeholder stands in a comment: the protocol of COPY knows no parameters.
  await sql`${sql.raw(`copy headway.${table}`)} (${names}) from stdin with (format binary) --${copied}`.execute(db);
}

/**
 * Rows of a query, whose values have to be written out in it (`sql.lit`): bytes come as they are, not as digits. Each row
 * is its columns, as {@link decodeRows} gives them.
 */
export async function copyFromQuery(db: Kysely<Database>, query: RawBuilder<unknown>): Promise<Generator<Fields>> {
  const { rows } = await sql<{ all: Buffer }>`copy (${query}) to stdout with (format binary) --${new Wanted()}`.execute(
    db,
  );
  return decodeRows(rows[0]?.all ?? Buffer.alloc(0));
}

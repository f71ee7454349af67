import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { encodeRows } from './copy-format.ts';
import type { Database } from './tables.ts';
import type { Column } from './write/unnest.ts';

/** What a COPY sends, as the parameter of its statement. */
class Copied {
  readonly chunks: Iterable<Buffer>;
  constructor(chunks: Iterable<Buffer>) {
    this.chunks = chunks;
  }
}

/**
 * A client to which COPY is a statement like others: the rows are its parameter. So it runs where every statement of a
 * transaction runs, and is turned to another schema as all others are.
 */
export class CopyingClient extends pg.Client {
  override query(...given: unknown[]): never {
    const [text, values] = given as [string, unknown[] | undefined];
    const copied = Array.isArray(values) ? values[0] : undefined;
    if (!(copied instanceof Copied)) return (super.query as (...all: unknown[]) => unknown)(...given) as never;
    return this.#copy(text, copied) as never;
  }

  async #copy(text: string, { chunks }: Copied): Promise<{ command: string; rowCount: number; rows: never[] }> {
    const stream = super.query(copyFrom(text));
    await pipeline(Readable.from(chunks), stream);
    return { command: 'COPY', rowCount: stream.rowCount, rows: [] };
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

import { type RawBuilder, sql } from 'kysely';

/** Rows of one statement. More are written in several. */
export const STATEMENT_ROWS = 1_000;

export type ColumnType =
  | 'text'
  | 'integer'
  | 'smallint'
  | 'bigint'
  | 'boolean'
  | 'double precision'
  | 'bytea'
  | 'json'
  | 'timestamptz';

/** A column: its name, its type, and its value of a row. */
export type Column<Row> = readonly [name: string, type: ColumnType, value: (row: Row) => unknown];

/** `(a, b) select * from unnest($1::text[], $2::bigint[])`: many rows with one parameter per column. */
export function rowsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): RawBuilder<unknown> {
  const names = sql.join(columns.map(([name]) => sql.ref(name)));
  const arrays = sql.join(
    columns.map(([, type, value]) => sql`${rows.map((row) => storable(type, value(row)))}::${sql.raw(arrayOf(type))}`),
  );
  // json has no array literal that survives every text, so that it travels as text.
  const selected = sql.join(
    columns.map(([name, type]) => (type === 'json' ? sql`${sql.ref(name)}::json` : sql.ref(name))),
  );
  return sql`(${names}) select ${selected} from unnest(${arrays}) as given(${names})`;
}

const arrayOf = (type: ColumnType) => (type === 'json' ? 'text[]' : `${type}[]`);

/** What Postgres can hold: it has no NUL in texts, and the driver would read an object as a row. */
function storable(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'timestamptz') return new Date(value as number).toISOString();
  return typeof value === 'string' ? storableText(value) : value;
}

/** A text as it is stored and looked up: NUL, which Postgres cannot hold, becomes U+FFFD. */
export const storableText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

export function* chunksOf<Row>(rows: readonly Row[], size: number = STATEMENT_ROWS): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
}

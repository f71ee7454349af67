import { type Column, type ColumnType, storableText } from './write/unnest.ts';

/** Bytes that are sent at once; a larger row is sent alone. */
const CHUNK_BYTES = 64 * 1024;
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = Buffer.from([0xff, 0xff]);
/** Postgres counts time from here. Milliseconds since the Unix epoch. */
const EPOCH = Date.UTC(2000, 0, 1);
/** The latest time that a Date can hold. Milliseconds. */
const LATEST = 8.64e15;
const HIGH = 2 ** 32;

/** Rows in the binary format of COPY, in chunks. Source: the manual of Postgres, "COPY", "Binary Format". */
export function* encodeRows<Row>(columns: readonly Column<Row>[], rows: Iterable<Row>): Generator<Buffer> {
  yield SIGNATURE;
  let page = new Page();
  for (const row of rows) {
    page.int16(columns.length);
    for (const [name, type, of] of columns) field(page, name, type, of(row));
    if (page.length < CHUNK_BYTES) continue;
    yield page.taken();
    page = new Page();
  }
  page.bytes(TRAILER);
  yield page.taken();
}

/** The columns of one row, to be read in their order: a column that was not read is not there for the next. */
export interface Fields {
  text(): string;
  textOrNull(): string | null;
  integer(): number;
  bigint(): number;
  bytes(): Uint8Array;
  /** Milliseconds since the Unix epoch. */
  time(): number;
}

/** Reads what {@link encodeRows} writes, and Postgres. Bytes are parts of the buffer that was given. */
export function* decodeRows(all: Buffer): Generator<Fields> {
  let at = SIGNATURE.length;
  const next = (): Buffer | null => {
    const length = all.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length === -1 ? null : all.subarray(at - length, at);
  };
  const present = (): Buffer => next() ?? raise(new TypeError('a column that is never null is null'));
  const fields: Fields = {
    text: () => present().toString('utf8'),
    textOrNull: () => next()?.toString('utf8') ?? null,
    integer: () => present().readInt32BE(),
    bigint: () => Number(present().readBigInt64BE()),
    bytes: present,
    time: () => Number(present().readBigInt64BE()) / 1_000 + EPOCH,
  };
  while (at < all.length && all.readInt16BE(at) !== -1) {
    at += 2;
    yield fields;
  }
}

const raise = (error: Error): never => {
  throw error;
};

function field(page: Page, name: string, type: ColumnType, value: unknown): void {
  if (value === null || value === undefined) return page.int32(-1);
  switch (type) {
    case 'text':
      return page.text(storableText(textOf(value)));
    case 'json':
      return page.text(JSON.stringify(value));
    case 'bytea': {
      const bytes = value as Uint8Array;
      page.int32(bytes.length);
      return page.bytes(bytes);
    }
    case 'boolean':
      page.int32(1);
      return page.int8(value === true ? 1 : 0);
    case 'smallint':
      page.int32(2);
      return page.int16(whole(name, value, 2 ** 15));
    case 'integer':
      page.int32(4);
      return page.int32(whole(name, value, 2 ** 31));
    case 'bigint':
      page.int32(8);
      return page.int64(whole(name, value, 2 ** 53));
    case 'double precision':
      page.int32(8);
      return page.double(value as number);
    case 'timestamptz':
      page.int32(8);
      return page.int64(microseconds(name, value));
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function whole(name: string, value: unknown, below: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= -below && value < below) return value;
  throw new RangeError(`${JSON.stringify(value)} is no whole number that ${name} can hold`);
}

function microseconds(name: string, value: unknown): number | bigint {
  if (typeof value !== 'number' || !(Math.abs(value) <= LATEST))
    throw new RangeError(`${JSON.stringify(value)} is no time that ${name} can hold`);
  const since = Math.trunc(value) - EPOCH;
  return Number.isSafeInteger(since * 1_000) ? since * 1_000 : BigInt(since) * 1_000n;
}

/** A buffer that grows. */
class Page {
  #buffer = Buffer.allocUnsafe(CHUNK_BYTES + CHUNK_BYTES / 4);
  length = 0;

  taken(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  int8(value: number): void {
    this.#room(1);
    this.length = this.#buffer.writeInt8(value, this.length);
  }

  int16(value: number): void {
    this.#room(2);
    this.length = this.#buffer.writeInt16BE(value, this.length);
  }

  int32(value: number): void {
    this.#room(4);
    this.length = this.#buffer.writeInt32BE(value, this.length);
  }

  int64(value: number | bigint): void {
    this.#room(8);
    if (typeof value === 'bigint') this.length = this.#buffer.writeBigInt64BE(value, this.length);
    else {
      this.#buffer.writeInt32BE(Math.floor(value / HIGH), this.length);
      this.length = this.#buffer.writeUInt32BE(((value % HIGH) + HIGH) % HIGH, this.length + 4);
    }
  }

  double(value: number): void {
    this.#room(8);
    this.length = this.#buffer.writeDoubleBE(value, this.length);
  }

  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#buffer.set(value, this.length);
    this.length += value.length;
  }

  /** A text with its length before it. */
  text(value: string): void {
    // No character of JavaScript takes more than three bytes in UTF-8.
    this.#room(4 + value.length * 3);
    const written = this.#buffer.write(value, this.length + 4, 'utf8');
    this.#buffer.writeInt32BE(written, this.length);
    this.length += 4 + written;
  }

  #room(bytes: number): void {
    if (this.length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.length + bytes, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}

import { outputLimits } from './limits.ts';

const LINE_FEED = 10;
const RETURN = 13;

/** Looks at the line that begins at `from`; answers where it ends, at most `to`. */
export type FindsEnd = (bytes: Buffer, from: number, to: number) => number;

/**
 * Splits chunks of bytes or text into lines. Memory is one line of at most `lineChars` bytes, whatever comes: a longer line
 * is given when so much of it is there, and its further pieces as what they are. A run of carriage returns, with the line
 * feed after it, ends one line: on a terminal it starts the line anew, in a log what it overwrote is a line of its own.
 */
export class LineSplitter {
  readonly #find: FindsEnd;
  readonly #onLine: (bytes: Buffer, to: number) => void;
  readonly #onMore: (piece: string) => void;
  /** The beginning of a line that no chunk has ended yet. */
  readonly #pending = Buffer.allocUnsafeSlow(outputLimits.lineChars + 1);
  #pendingBytes = 0;
  /** A carriage return came last. */
  #returned = false;
  /** The line at hand was given already; what comes up to its end are further pieces. */
  #given = false;
  #decoder = new TextDecoder();

  /** `onLine` is told where the line ends that `find` was asked for just before; it may keep nothing of the bytes. */
  constructor(find: FindsEnd, onLine: (bytes: Buffer, to: number) => void, onMore: (piece: string) => void) {
    this.#find = find;
    this.#onLine = onLine;
    this.#onMore = onMore;
  }

  push(chunk: Uint8Array | string): void {
    const bytes =
      typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length) {
      if (this.#returned) at = this.#afterReturn(bytes, at);
      else if (this.#given) at = this.#more(bytes, at);
      else if (this.#pendingBytes > 0) at = this.#goOn(bytes, at);
      else at = this.#line(bytes, at);
    }
  }

  end(): void {
    this.#endMore();
    if (this.#pendingBytes > 0) this.#give(this.#pending, this.#pendingBytes);
    this.#pendingBytes = 0;
  }

  #afterReturn(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && bytes[at] === RETURN) at += 1;
    if (at === bytes.length) return at;
    this.#returned = false;
    return bytes[at] === LINE_FEED ? at + 1 : at;
  }

  /** The line that begins at `from`, with nothing pending. */
  #line(bytes: Buffer, from: number): number {
    const most = Math.min(bytes.length, from + outputLimits.lineChars);
    const end = this.#find(bytes, from, most);
    if (end < bytes.length && isEnd(bytes[end] as number)) {
      this.#onLine(bytes, end);
      return this.#past(bytes, end);
    }
    if (bytes.length - from <= outputLimits.lineChars) {
      bytes.copy(this.#pending, 0, from);
      this.#pendingBytes = bytes.length - from;
      return bytes.length;
    }
    const cut = wholeCharacters(bytes, most);
    if (cut !== end) this.#find(bytes, from, cut);
    this.#onLine(bytes, cut);
    this.#given = true;
    return cut;
  }

  /** Of a chunk, what belongs to the pending line. */
  #goOn(bytes: Buffer, from: number): number {
    const end = endOfLine(bytes, from, Math.min(bytes.length, from + outputLimits.lineChars + 1 - this.#pendingBytes));
    this.#pendingBytes += bytes.copy(this.#pending, this.#pendingBytes, from, end);
    const isWhole = end < bytes.length && isEnd(bytes[end] as number);
    if (!isWhole && this.#pendingBytes <= outputLimits.lineChars) return end;
    const size = this.#pendingBytes;
    this.#pendingBytes = 0;
    if (size <= outputLimits.lineChars) {
      this.#give(this.#pending, size);
      return this.#past(bytes, end);
    }
    const cut = wholeCharacters(this.#pending, outputLimits.lineChars);
    this.#give(this.#pending, cut);
    this.#given = true;
    this.#onMore(this.#decoder.decode(this.#pending.subarray(cut, size), { stream: true }));
    return end;
  }

  #give(bytes: Buffer, size: number): void {
    this.#find(bytes, 0, size);
    this.#onLine(bytes, size);
  }

  #more(bytes: Buffer, from: number): number {
    const end = endOfLine(bytes, from, bytes.length);
    if (end > from) this.#onMore(this.#decoder.decode(bytes.subarray(from, end), { stream: true }));
    if (end === bytes.length) return end;
    this.#endMore();
    return this.#past(bytes, end);
  }

  #endMore(): void {
    const rest = this.#given ? this.#decoder.decode() : '';
    if (rest !== '') this.#onMore(rest);
    this.#given = false;
  }

  /** Past the byte that ends a line. */
  #past(bytes: Buffer, end: number): number {
    this.#returned = bytes[end] === RETURN;
    return end + 1;
  }
}

const isEnd = (byte: number): boolean => byte === LINE_FEED || byte === RETURN;

function endOfLine(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && !isEnd(bytes[at] as number)) at += 1;
  return at;
}

/** Where to cut at most, so that no character (of four bytes at most) is cut in two. */
function wholeCharacters(bytes: Buffer, most: number): number {
  let at = most;
  while (at > most - 3 && ((bytes[at] as number) & 0xc0) === 0x80) at -= 1;
  return at;
}

// Each alternative ends at the next escape at the latest, so that a row of unfinished sequences is read once.
const ansi =
  // oxlint-disable-next-line no-control-regex -- terminals speak in control characters
  /\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)|\x9b[0-?]*[ -/]*[@-~]?/g;
// oxlint-disable-next-line no-control-regex -- these are what is taken out
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff\ufffd]+/g;

/** Without escapes and control characters. */
export const plainText = (raw: string): string =>
  (raw.includes('\x1b') || raw.includes('\x9b') ? raw.replace(ansi, '') : raw).replace(controls, '');

/** The same text apart from the chunk it was cut from, which it would keep in memory as long as itself. */
export const detached = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

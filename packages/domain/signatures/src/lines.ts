import { outputLimits } from './limits.ts';

/**
 * Splits chunks of bytes or text into lines. Memory is one line of at most `lineChars`, whatever comes: a longer line is
 * given when so much of it is there, and its further pieces as what they are.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #onLine: (line: string) => void;
  readonly #onMore: (piece: string) => void;
  readonly #skips: (text: string, from: number, to: number) => boolean;
  #pending = '';
  /** The chunk before ended with a carriage return. */
  #returned = false;
  /** The line at hand was given already; what comes up to its end are further pieces. */
  #given = false;

  /** `skips` is asked whether a line, between two places of a text, may be left out unseen. */
  constructor(
    onLine: (line: string) => void,
    onMore: (piece: string) => void,
    skips: (text: string, from: number, to: number) => boolean,
  ) {
    this.#skips = skips;
    this.#onLine = onLine;
    this.#onMore = onMore;
  }

  push(chunk: Uint8Array | string): void {
    this.#take(typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true }));
  }

  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#pending !== '') this.#onLine(this.#pending);
    this.#pending = '';
  }

  #take(chunk: string): void {
    // A carriage return starts the line anew on a terminal; in a log what it overwrote is a line of its own.
    const text = this.#returned || chunk.includes('\r') ? this.#returns(chunk) : chunk;
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      if (this.#pending === '' && !this.#given && to - from <= outputLimits.lineChars && this.#skips(text, from, to)) {
        from = to + 1;
        continue;
      }
      this.#piece(text, from, to);
      if (this.#given) this.#given = false;
      else {
        this.#onLine(this.#pending);
        this.#pending = '';
      }
      from = to + 1;
    }
    if (from < text.length) this.#piece(text, from, text.length);
  }

  /** CRLF ends one line, also where a chunk ends between the two. */
  #returns(chunk: string): string {
    if (chunk === '') return chunk;
    const text = this.#returned && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    this.#returned = chunk.endsWith('\r');
    return text.replaceAll(/\r{1,100}\n?/g, '\n');
  }

  #piece(text: string, from: number, to: number): void {
    if (this.#given) {
      if (to > from) this.#onMore(text.slice(from, to));
      return;
    }
    const end = Math.min(to, from + outputLimits.lineChars - this.#pending.length);
    const piece = text.slice(from, end);
    this.#pending = this.#pending === '' ? piece : this.#pending + piece;
    if (end === to) return;
    this.#onLine(this.#pending);
    this.#pending = '';
    this.#given = true;
    this.#onMore(text.slice(end, to));
  }
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

import { outputLimits } from './limits.ts';

/**
 * Splits chunks of bytes or text into lines. Memory is one line of at most `lineChars`, whatever comes: a longer line is
 * given when so much of it is there, and its further pieces as what they are.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #onLine: (line: string) => void;
  readonly #onMore: (piece: string) => void;
  #pending = '';
  /** The line at hand was given already; what comes up to its end are further pieces. */
  #given = false;

  constructor(onLine: (line: string) => void, onMore: (piece: string) => void) {
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
    const text = chunk.includes('\r') ? chunk.replaceAll('\r', '\n') : chunk;
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
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
  /\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]?)|\x9b[0-?]*[ -/]*[@-~]?/g;
// oxlint-disable-next-line no-control-regex -- these are what is taken out
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff\ufffd]+/g;

/** What CI systems and multiplexers put before a line: times, streams, group markers. */
const prefixes = [
  /^section_(?:start|end):\d+:[\w.-]*(?:\[[^\]]{0,80}\])?/,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE]\+?)?[ \t]?/,
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[ \t]/,
  /^#\d{1,4} \d{1,6}\.\d{1,4} /,
  /^##\[(?:error|warning|group|endgroup|section|debug|command)\]/,
  /^::(?:group|endgroup|debug|notice)\b[^:]{0,200}::/,
] as const;
const mayBePrefixed = /^(?:\[?\d\d|#\d|##\[|::|section_)/;
/** `tests-1  | `, as docker compose and its like put before the lines of a service. */
const service = /^[A-Za-z][\w.-]{0,62} {1,40}\|(?: |$)/;
const annotation = /^::error(?: ([^:]{0,400}))?::/;

/** A line as a person reads it: without escapes, control characters and what the CI system put before it. */
export function cleanLine(raw: string): string {
  let line = raw;
  if (line.includes('\x1b') || line.includes('\x9b')) line = line.replace(ansi, '');
  line = line.replace(controls, '').trimEnd();
  if (line.includes(' |')) line = line.replace(service, '');
  if (!mayBePrefixed.test(line)) return line;
  for (const prefix of prefixes) line = line.replace(prefix, '');
  const annotated = annotation.exec(line);
  if (annotated !== null) {
    const file = /file=([^,]{1,300})/.exec(annotated[1] ?? '')?.[1];
    line = `${file === undefined ? '' : `${file}: `}error: ${line.slice(annotated[0].length)}`;
  }
  return line;
}

/** A further piece of a long line, without escapes and control characters. */
export const cleanPiece = (raw: string): string =>
  (raw.includes('\x1b') || raw.includes('\x9b') ? raw.replace(ansi, '') : raw).replace(controls, '');

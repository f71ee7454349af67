import { plainText } from '../lines.ts';
import { toolReaders } from '../readers/index.ts';
import { worthReading } from '../readers/line-kinds.ts';
import { prefixWords, type Unprefixed, withoutPrefix } from './prefixes.ts';
import { WordIndex } from './word-index.ts';

/** The last two bits are no tools': the masking reader's, and those of lines that may have a prefix. */
const MASKING = 62;
const PREFIX = 63;
const none: readonly string[] = [];
const words = new WordIndex(
  Array.from({ length: PREFIX + 1 }, (_, at) => {
    if (at === MASKING) return worthReading;
    return at === PREFIX ? prefixWords : (toolReaders[at]?.opens ?? none);
  }),
);
if (toolReaders.length > MASKING) throw new Error(`more than ${MASKING} tools`);
const MASKING_BIT = 1 << (MASKING - 32);
const PREFIX_BIT = 1 << (PREFIX - 32);

/** A line and which readers it wakes. */
export interface Line {
  readonly line: string;
  readonly text: string;
  /** Bits of the tools to be asked: 0 to 31, and 32 on. */
  readonly low: number;
  readonly high: number;
  /** The masking reader may find something. */
  readonly isWorthReading: boolean;
}

export const LESS_THAN = 0x3c;
export const BRACE = 0x7b;
const TAB = 9;
const SPACE = 32;

/** A line as it came: what escapes and prefixes hide is taken off. Most lines are looked at once. */
export function readLine(raw: string, unprefixed: (found: Unprefixed) => void): Line {
  let line = raw;
  words.find(line, textOf(line), line.length);
  if (words.hasControls) {
    line = plainText(line);
    words.find(line, textOf(line), line.length);
  }
  const last = line.charCodeAt(line.length - 1);
  if (last <= SPACE || last > 127) line = line.trimEnd();
  if ((words.high & PREFIX_BIT) !== 0) {
    const found = withoutPrefix(line);
    if (found.line !== line) {
      line = found.line.trimEnd();
      words.find(line, textOf(line), line.length);
      unprefixed(found);
    }
  }
  return found(line);
}

function found(line: string): Line {
  const indent = textOf(line);
  return {
    line,
    text: indent === 0 ? line : line.slice(indent),
    low: words.low,
    high: words.high & ~(PREFIX_BIT | MASKING_BIT),
    isWorthReading: (words.high & MASKING_BIT) !== 0 || !line.includes(' '),
  };
}

/**
 * Whether a line, which stands between `from` and `to`, wakes nobody, hides nothing, and begins no document: most lines of
 * most outputs, which are not even cut out.
 */
export function meansNothing(text: string, from: number, to: number): boolean {
  const begin = textOf(text, from, to);
  if (words.find(text, begin, to) || words.hasControls) return false;
  const first = text.charCodeAt(from);
  if (first === LESS_THAN || first === BRACE) return begin === to;
  const blank = text.indexOf(' ', begin);
  return begin === to || (blank !== -1 && blank < to);
}

function textOf(line: string, from = 0, to = line.length): number {
  let at = from;
  for (; at < to; at += 1) {
    const code = line.charCodeAt(at);
    if (code !== SPACE && code !== TAB) break;
  }
  return at;
}

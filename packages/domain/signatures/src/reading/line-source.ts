import { outputLimits } from '../limits.ts';
import { plainText } from '../lines.ts';
import { toolReaders } from '../readers/index.ts';
import { isNumbered, perhapsWorthReading, worthReading } from '../readers/line-kinds.ts';
import { afterStamp, prefixWords, type Unprefixed, withoutPrefix } from './prefixes.ts';
import type { Passing } from './sessions.ts';
import { WordIndex } from './word-index.ts';

/** The last three bits are no tools': the masking reader's, also where it has to look again, and of lines with a prefix. */
const NUMBERED = 61;
const MASKING = 62;
const PREFIX = 63;
const none: readonly string[] = [];
const words = new WordIndex(
  Array.from({ length: PREFIX + 1 }, (_, at) => {
    if (at === NUMBERED) return perhapsWorthReading;
    if (at === MASKING) return worthReading;
    return at === PREFIX ? prefixWords : (toolReaders[at]?.opens ?? none);
  }),
);
if (toolReaders.length > NUMBERED) throw new Error(`more than ${NUMBERED} tools`);
const NUMBERED_BIT = 1 << (NUMBERED - 32);
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
/** It wakes those that look for a prefix: no line that begins with it means nothing. */
export const BRACKET = 0x5b;
export const BRACE = 0x7b;
/** Package scripts are told of by lines that begin with it. */
export const GREATER_THAN = 0x3e;
const SPACE = 32;
const TAB = 9;
const ESCAPE = 0x1b;

/** A line's end, and what stands in it: see `WordIndex.find`. What the functions below say is about the last line found. */
export function findLine(bytes: Buffer, from: number, to: number): number {
  const first = bytes[from] as number;
  start = first >= 0x30 && first <= 0x39 ? afterStamp(bytes, from, to) : from;
  return words.find(bytes, start, to);
}

/** Where the line found last begins, after the time that a CI system put before it. */
let start = 0;

/** The line that was found there wakes nobody, hides nothing and begins nothing: most lines of most outputs. */
export function meansNothing(bytes: Buffer, to: number): boolean {
  if ((words.low | words.high) !== 0 || words.hasControls) return false;
  const first = bytes[start];
  if (first === LESS_THAN || first === BRACE || first === GREATER_THAN) return words.begin === to;
  return words.begin === to || hasBlank(bytes, start, to);
}

/** The line that was found there begins and ends so. */
export function isPassing(bytes: Buffer, to: number, marks: readonly Passing[]): boolean {
  return (
    !words.hasControls &&
    marks.some(({ begins, ends }) => holds(bytes, words.begin, to, begins) && holds(bytes, to - ends.length, to, ends))
  );
}

function holds(bytes: Buffer, from: number, to: number, wanted: Buffer): boolean {
  if (from < words.begin || from + wanted.length > to) return false;
  for (let at = 0; at < wanted.length; at += 1) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}

/** Whether the line that was found there is empty but for blanks. */
export const isBlank = (to: number): boolean => words.begin === to;

/** The line that was found there, without what escapes and prefixes hide. */
export function lineFrom(bytes: Buffer, to: number, unprefixed: (found: Unprefixed) => void): Line {
  const size = words.hasControls ? withoutSequences(bytes, start, to) : 0;
  if (size === 0) return cleaned(bytes.toString(words.isAscii ? 'latin1' : 'utf8', start, to), unprefixed);
  words.find(scratch, 0, size);
  return cleaned(scratch.toString(words.isAscii ? 'latin1' : 'utf8', 0, size), unprefixed);
}

const scratch = Buffer.allocUnsafeSlow(4 * outputLimits.lineChars);

/**
 * Copies a line without its colours and the like (CSI sequences) into `scratch`; how many bytes these are, 0 where nothing
 * else is left or something else hides in it.
 */
function withoutSequences(bytes: Buffer, from: number, to: number): number {
  let size = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte !== ESCAPE) {
      if (byte < SPACE && byte !== TAB) return 0;
      scratch[size++] = byte;
      continue;
    }
    if (bytes[at + 1] !== BRACKET) return 0;
    at += 2;
    while (at < to && (bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x3f) at += 1;
    while (at < to && (bytes[at] as number) >= 0x20 && (bytes[at] as number) <= 0x2f) at += 1;
    if (at >= to || (bytes[at] as number) < 0x40 || (bytes[at] as number) > 0x7e) return 0;
  }
  return size;
}

function findIn(line: string): void {
  words.find(scratch, 0, scratch.write(line));
}

/** The same of a line that is text already. */
export function readLine(raw: string, unprefixed: (found: Unprefixed) => void): Line {
  findIn(raw);
  return cleaned(raw, unprefixed);
}

function cleaned(raw: string, unprefixed: (found: Unprefixed) => void): Line {
  let line = raw;
  if (words.hasControls || (!words.isAscii && /[\x80-\x9f\ufffd]/.test(line))) {
    line = plainText(line);
    findIn(line);
  }
  const last = line.charCodeAt(line.length - 1);
  if (last <= SPACE || last > 127) line = line.trimEnd();
  if ((words.high & PREFIX_BIT) !== 0) {
    const found = withoutPrefix(line);
    if (found.line !== line) {
      line = found.line.trimEnd();
      findIn(line);
      unprefixed(found);
    }
  }
  return {
    line,
    text: words.begin === 0 ? line : line.trimStart(),
    low: words.low,
    high: words.high & ~(PREFIX_BIT | MASKING_BIT | NUMBERED_BIT),
    isWorthReading:
      (words.high & MASKING_BIT) !== 0 ||
      ((words.high & NUMBERED_BIT) !== 0 && isNumbered(line)) ||
      !line.includes(' '),
  };
}

function hasBlank(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] === SPACE) return true;
  return false;
}

/** What CI systems and programs that run several others put before each line. */

const [TAB, SPACE, PLUS, COMMA, MINUS, DOT, COLON, AT, E, O, Z] = [9, 32, 43, 44, 45, 46, 58, 64, 69, 79, 90];
const stamp = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`;
/** Job and step of a downloaded log, with tabs between. */
const columns = new RegExp(String.raw`^[^\t]{1,120}\t[^\t]{1,120}\t(?=${stamp} )`);
/** By the character they begin with. */
const digit = [
  new RegExp(String.raw`^${stamp}(?: \d\d[OE]\+?)?[ \t]?`),
  /^\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[ \t]{1,2}/,
  // Docker tells the end of a failed step's output once more, with seconds.
  /^\d{1,5}\.\d{3} (?=\S)/,
];
const bracket = [
  new RegExp(String.raw`^\[${stamp}\][ \t]?`),
  /^\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\](?:[WEi]: {0,9}| ?: {0,9})?(?:\[Step \d{1,3}\/\d{1,3}\])?[ \t]/,
  /^\[Pipeline\] /,
];
const hash = [
  /^#\d{1,4} (?:\d{1,6}\.\d{1,4} |(?=ERROR: ))/,
  /^##\[(?:error|warning|group|endgroup|section|debug|command)\]/,
  /^##vso\[task\.logissue type=error[^\]]{0,400}\]/,
];
const colon = [/^::(?:group|endgroup|debug|notice)\b[^:]{0,200}::/];
const letter = [
  /^section_(?:start|end):\d{1,12}:[\w.-]{0,120}(?:\[[^\]]{0,80}\])?/,
  /^travis_(?:fold|time):[\w:.,=-]{0,200}/,
];

/** `2026-01-02T03:04:05`: digits, and what stands between them. */
const stampShape = [...'dddd-dd-ddTdd:dd:dd'].map((sign) => (sign === 'd' ? -1 : sign.charCodeAt(0)));
const DATE_CHARS = 10;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/**
 * Where a line goes on after a stamp of date and time (with the mark by which GitLab tells the streams apart): the same as
 * the first pattern of `digit`, without making text of the bytes. `from` where there is none.
 */
export function afterStamp(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  if (to - from < stampShape.length) return from;
  for (const sign of stampShape) {
    const byte = bytes[at++];
    const isMatch = sign === -1 ? isDigit(byte) : byte === sign || (at - from === DATE_CHARS + 1 && byte === SPACE);
    if (!isMatch) return from;
  }
  if ((bytes[at] === COMMA || bytes[at] === DOT) && isDigit(bytes[at + 1])) {
    const most = Math.min(to, at + 10);
    for (at += 1; at < most && isDigit(bytes[at]); ) at += 1;
  }
  if (bytes[at] === Z) at += 1;
  else if ((bytes[at] === PLUS || bytes[at] === MINUS) && isDigit(bytes[at + 1]) && isDigit(bytes[at + 2])) {
    const minutes = bytes[at + 3] === COLON ? at + 4 : at + 3;
    if (isDigit(bytes[minutes]) && isDigit(bytes[minutes + 1])) at = minutes + 2;
  }
  if (
    bytes[at] === SPACE &&
    isDigit(bytes[at + 1]) &&
    isDigit(bytes[at + 2]) &&
    (bytes[at + 3] === O || bytes[at + 3] === E)
  )
    at += bytes[at + 4] === PLUS ? 5 : 4;
  if (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
  return Math.min(at, to);
}

function ciPrefixes(line: string): readonly RegExp[] {
  const first = line.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39) return digit;
  // `[12:00:00]`, `[2026-…]`, `[Pipeline]`
  if (first === 0x5b) return /^\[[\dP]/.test(line) ? bracket : [];
  if (first === 0x23) return hash;
  if (first === 0x3a) return colon;
  return first === 0x73 || first === 0x74 ? letter : [];
}

const scripts = 'test,build,lint,check,typecheck,type-check,types,format,ci,e2e,unit,verify,compile,validate'.split(
  ',',
);
const script = `(?:${scripts.join('|')})`;
/** turbo and others write `package:script: `, pnpm `folder script: `: the package tells what fails. */
const turbo = new RegExp(String.raw`^(@?[a-z][\w./-]{0,100}):${script}[\w:.-]{0,40}?: `);
const pnpm = new RegExp(
  String.raw`^(?!error |warning |npm |make )([a-z@.][\w@./-]{0,100}) ${script}[\w:.-]{0,40}?(?:: |\$ )`,
);
/** Lerna writes the package alone; without a scope it could be anything. */
const lerna = /^(@[a-z][\w.-]{0,60}\/[\w.-]{1,80}):(?: |$)/;
/** docker compose and foreman write `service | `, concurrently and yarn `[name] ` or `[name]: `. */
// Vitest heads what a test prints by `stdout | `.
const barred = /^(?!std(?:out|err) \|)([A-Za-z][\w.-]{1,60}) {0,40}\| /;
const bracketed = /^\[(?!gw\d|error|warn|info|debug|fatal|fail|trace|notice|log)(\d{1,2}|@?[a-z][\w@./-]{0,60})\]:? /;
const MOST_LANE_CHARS = 160;

/** Words of which one stands in every line that may have a prefix. */
export const prefixWords: readonly string[] = [
  ...Array.from({ length: 10 }, (_, digit) => `^${digit}`),
  ...['^[', '^#', '^@', '^::', '^section_', '^travis_', '| ', 'Z '],
  ...scripts.flatMap((name) => [`:${name}`, ` ${name}:`, ` ${name}$`]),
];

export interface Unprefixed {
  readonly line: string;
  /** The program of several whose line it is; `null` = there is one only. */
  readonly lane: string | null;
  /** The package that it works on, for the keys. */
  readonly workspace: string | null;
}

function laneOf(line: string): [RegExpExecArray | null, boolean] {
  const first = line.charCodeAt(0);
  if (first === 0x5b) return [bracketed.exec(line), false];
  const isLetter = (first | 0x20) >= 0x61 && (first | 0x20) <= 0x7a;
  if (!isLetter && first !== AT && first !== DOT) return [null, false];
  const bar = line.indexOf('| ');
  if (bar > 0 && bar < MOST_LANE_CHARS) {
    const found = barred.exec(line);
    if (found !== null) return [found, false];
  }
  if (first === AT) {
    const found = lerna.exec(line);
    if (found !== null) return [found, true];
  }
  const colon = line.indexOf(': ');
  const isShort = (colon > 0 && colon < MOST_LANE_CHARS) || line.lastIndexOf('$ ', MOST_LANE_CHARS) > 0;
  return [isShort ? (turbo.exec(line) ?? pnpm.exec(line)) : null, true];
}

export function withoutPrefix(line: string): Unprefixed {
  let rest = line.includes('\t') ? line.replace(columns, '') : line;
  // A time may be followed by a marker, and the other way round.
  for (let round = 0; round < 2; round += 1) for (const prefix of ciPrefixes(rest)) rest = rest.replace(prefix, '');
  const [found, isWorkspace] = laneOf(rest);
  if (found !== null) {
    const [whole, name] = found;
    return { line: rest.slice(whole.length), lane: whole, workspace: isWorkspace ? (name as string) : null };
  }
  return { line: rest, lane: null, workspace: null };
}

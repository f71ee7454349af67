export const REDACTED = '[redacted]';

/**
 * Replaces what looks like a secret by `[redacted]`: private key blocks, credentials in addresses and headers, values
 * assigned to names like `password`, and tokens of known makes.
 *
 * Time is linear in the length of the text, whatever stands in it: a run of characters is begun at most once per
 * pattern (the look-behinds see to that), and every other repetition is bounded.
 */
export function redact(text: string): string {
  if (text.length < SHORTEST) return text;
  let clean = text.includes('-----BEGIN') ? redactKeyBlocks(text) : text;
  if (clean.includes('://')) clean = clean.replace(URL_PASSWORD, `$1${REDACTED}@`).replace(URL_TOKEN, `$1${REDACTED}@`);
  clean = clean.replace(AUTHORIZATION, `$1${REDACTED}`).replace(BEARER, `$1${REDACTED}`);
  clean = clean.replace(KNOWN_TOKENS, REDACTED).replace(SLACK_HOOK, `$1${REDACTED}`);
  if (clean.includes('eyJ')) clean = clean.replace(JWT, REDACTED);
  return redactAssignments(clean);
}

/** The shortest text that could hold a name, a sign and a value. */
const SHORTEST = 5;

/** `://user:password@`; a password may itself hold an @. */
const URL_PASSWORD = /(:\/\/[^\s:@/?#"'<>]{0,256}:)[^\s/?#"'<>]{1,1024}@/g;
const URL_TOKEN = /(:\/\/)[^\s:@/?#"'<>[\]]{16,1024}@/g;

/** A header or member `authorization`, with whatever scheme. */
const AUTHORIZATION =
  /(?<![a-z0-9])((?:proxy-)?authorization\\{0,3}["']?\s{0,8}[:=]\s{0,8}\\{0,3}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s{1,8})?)[^\s"'\\,;]{4,8192}/gi;
/** `bearer` and something that is no plain word. */
const BEARER = /(?<![a-z0-9])(bearer\s{1,8})(?=[^\s"']{0,64}\d|[^\s"']{20})[a-z0-9._~+/=-]{6,8192}/gi;

const KNOWN_TOKENS = new RegExp(
  [
    '(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    '(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,255}',
    '(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,255}',
    '(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.-]{16,255}',
    '(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,255}',
    String.raw`(?<![A-Za-z0-9])xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,255}`,
    '(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10,255}',
    '(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,255}',
    '(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}',
    '(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}',
    '(?<![A-Za-z0-9])(?:hf|dop_v1|pypi|glpat|shpat|dckr_pat)[_-][A-Za-z0-9_-]{30,255}',
  ].join('|'),
  'g',
);
const SLACK_HOOK = /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{8,255}/g;
/** Three parts of base64url with dots between; the last may have been cut. */
const JWT = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g;

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----/g;

/** A block whose end is not there, because the text was cut, goes to the end of the text. */
function redactKeyBlocks(text: string): string {
  let clean = '';
  let at = 0;
  for (;;) {
    KEY_BEGIN.lastIndex = at;
    const begin = KEY_BEGIN.exec(text);
    if (begin === null) return clean + text.slice(at);
    clean += text.slice(at, begin.index) + REDACTED;
    KEY_END.lastIndex = KEY_BEGIN.lastIndex;
    if (KEY_END.exec(text) === null) return clean;
    at = KEY_END.lastIndex;
  }
}

/** Names whose value is secret whatever it is, and a sign of assignment after them. */
const STRONG =
  '(?:pass(?:word|wd|phrase)|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|_token)[A-Za-z0-9_-]{0,24}';
/** Words that also stand in plain sentences: here the value has to look like a secret. */
const WEAK = '(?<![A-Za-z0-9_])(?:token|pwd|cookie|set-cookie|x-auth)';
const SIGN = String.raw`(?:\\{0,3}["'])?\s{0,4}(?:=>|:=|=|:)\s{0,4}`;
const FLAG = String.raw`--(?:password|passwd|pass|secret|token|api-key)[\s]{1,4}(?=[^\s-])`;
const ASSIGNMENT = new RegExp(`(?:(${STRONG})${SIGN}|(${WEAK})${SIGN}|(${FLAG}))`, 'gi');

/** A quoted value is looked at up to here. */
const LONGEST_VALUE = 8_192;
/** What stands where a secret would, and is none. */
const NO_SECRET =
  /^(?:null|undefined|none|nil|true|false|\[redacted\]|\*+|<[a-z _-]{1,32}>|\$\{?[A-Za-z_]{1,64}\}?|%[a-z_]{1,64}%)$/i;

function redactAssignments(text: string): string {
  let clean = '';
  let at = 0;
  for (;;) {
    ASSIGNMENT.lastIndex = at;
    const found = ASSIGNMENT.exec(text);
    if (found === null) return at === 0 ? text : clean + text.slice(at);
    const start = ASSIGNMENT.lastIndex;
    const value = valueAt(text, start);
    clean += text.slice(at, value.from);
    at = value.to;
    const secret = text.slice(value.from, value.to);
    const kept = secret === '' || NO_SECRET.test(secret) || (found[2] !== undefined && !looksSecret(secret));
    clean += kept ? secret : REDACTED;
  }
}

const looksSecret = (value: string): boolean =>
  value.length >= 20 || (value.length >= 6 && /\d/.test(value.slice(0, 64)));

/** The value from a place on: within quotes where it begins with one, else up to white space or a mark that ends it. */
function valueAt(text: string, start: number): { from: number; to: number } {
  if (text.startsWith(REDACTED, start)) return { from: start, to: start + REDACTED.length };
  let from = start;
  while (text[from] === '\\' && from < start + 3) from += 1;
  const quote = text[from];
  if (quote === '"' || quote === "'" || quote === '`') {
    from += 1;
    for (let to = from; to < text.length && to < from + LONGEST_VALUE; to += 1) {
      if (text[to] === quote || text[to] === '\n')
        return { from, to: text[to - 1] === '\\' && from < to ? to - 1 : to };
      // A quote within the value, escaped: but not where the value itself stands in an escaped text.
      if (text[to] === '\\' && from === start + 1) to += 1;
    }
    return { from, to: Math.min(text.length, from + LONGEST_VALUE) };
  }
  let to = start;
  while (to < text.length && !ENDS.has(text[to] as string)) to += 1;
  return { from: start, to };
}
const ENDS: ReadonlySet<string> = new Set([
  ' ',
  '\t',
  '\n',
  '\r',
  '"',
  "'",
  '`',
  ',',
  ';',
  '&',
  ')',
  '}',
  ']',
  '<',
  '>',
]);

/** Members that hold hashes, counts or enumerations: nothing to redact, and often. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(['hash', 'outcome', 'stage', 'startedAt', 'endedAt', 'sha']);
/** Names of members whose text is a secret whatever it is. */
const SECRET_MEMBER =
  /^(?:.{0,64}(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)|(?:.{0,64}[_-])?token|.{1,64}Token|authorization|cookie)$/i;

/** The same value with every text in it redacted, at whatever depth; bounded by the depth of an event. */
export function redactValue(value: unknown, member = ''): unknown {
  if (typeof value === 'string') {
    if (PLAIN_MEMBERS.has(member)) return value;
    return SECRET_MEMBER.test(member) && value !== '' ? REDACTED : redact(value);
  }
  if (Array.isArray(value)) return value.map((child) => redactValue(child, member));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, redactValue(child, name)]));
}

/** Replaces what differs between two runs of one failure by words in angle brackets. Pure; linear in the line. */

const anchors: ReadonlySet<string> = new Set(
  (
    'src lib test tests spec specs __tests__ packages services apps crates internal cmd pkg features ' +
    'node_modules site-packages dist build e2e integration unit'
  ).split(' '),
);
const temporary =
  /^(?:\/private)?\/(?:tmp|var\/tmp|dev\/shm|var\/folders\/[^/]+\/[^/]+\/T)\/|^[A-Za-z]:\/(?:.*\/)?Temp\//i;
const absolutePath = /(?<![\w.\-/\\~@)\]}>])(?:[A-Za-z]:)?[\\/](?:[^\s'"`()<>:,;|*?\\/]+[\\/])*[^\s'"`()<>:,;|*?\\/]+/g;

/** With `/` between its parts and without `file://`. */
export const slashed = (path: string): string => {
  const plain = path.startsWith('file://') ? path.slice(7) : path;
  return plain.includes('\\') ? plain.replaceAll('\\', '/') : plain;
};

/** `/home/me/checkout-7/src/a.ts` is `src/a.ts`; without a known folder in it, its base name. */
export function shortPath(path: string): string {
  const plain = slashed(path);
  const temp = temporary.exec(plain);
  const below = temp === null ? plain : plain.slice(temp[0].length);
  const parts = below.split('/').filter((part) => part !== '' && !/^[A-Za-z]:$/.test(part));
  if (parts[0] === 'usr' && parts[1] === 'src') parts.splice(0, 2);
  const anchor = parts.findIndex((part, index) => index < parts.length - 1 && anchors.has(part));
  if (anchor !== -1) return parts.slice(anchor).join('/');
  if (temp === null) return parts.at(-1) ?? '/';
  if (parts.length === 1) return randomName(parts[0] as string);
  return parts.slice(1).map(randomName).join('/');
}

/** Names under a temporary folder: a part that looks drawn at random, or numbered, is masked. */
function randomName(name: string): string {
  const dot = name.indexOf('.', 1);
  const stem = dot === -1 ? name : name.slice(0, dot);
  const rest = dot === -1 ? '' : name.slice(dot);
  const cut = Math.max(stem.lastIndexOf('-'), stem.lastIndexOf('_'));
  const tail = stem.slice(cut + 1);
  const drawn = tail.length >= 6 && (/\d/.test(tail) || (/[a-z]/.test(tail) && /[A-Z]/.test(tail)));
  const masked = drawn ? `${stem.slice(0, cut + 1)}<tmp>` : stem.replace(/\d+/g, '<n>');
  return masked + rest.replace(/\.[A-Za-z0-9]{6,}$/, (end) => (/\d|[a-z][A-Z]|[A-Z][a-z]/.test(end) ? '.<tmp>' : end));
}

type Rule = readonly [pattern: RegExp, replacement: string | ((text: string) => string)];

const identities: readonly Rule[] = [
  [/file:\/\/(?=\/)/g, ''],
  [/0\.\d{4,}/g, '<n>'],
  [/\b\d{4}-\d\d-\d\d[T _]\d\d[:_]\d\d[:_]\d\d(?:[.,_]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d\d?)?,?(?: \d{4})?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b\d{4}[-/]\d\d[-/]\d\d\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]{1,32}\b/gi, '<address>'],
  [/\bsha(?:1|256|384|512)[-:][A-Za-z0-9+/=]{16,}/g, '<hash>'],
  [absolutePath, shortPath],
  [/\b[0-9a-f]{7,128}\b/gi, (text) => (/\d/.test(text) && /[a-f]/i.test(text) ? '<hash>' : text)],
  [/(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\blocalhost|\[[0-9a-f:]{2,45}\]|::1):\d{2,5}\b/gi, '$1:<port>'],
  [/\bport[ =:]{1,3}\d{2,5}\b/gi, 'port <port>'],
  [/:\/\/([\w.-]{1,200}):\d{2,5}\b/g, '://$1:<port>'],
  [/\b(pid|process|thread|worker)[ =:#]{1,3}\d+\b/gi, '$1 <pid>'],
  [/\(node:\d+\)/g, '(node:<pid>)'],
  [/==\d+==/g, '==<pid>=='],
  [/\b([a-z][\w-]{0,60})\[\d+\]:/gi, '$1[<pid>]:'],
  [/\bseed(?: is| was)?[ =:]{1,3}['"]?[\w-]+/gi, 'seed <seed>'],
  [/\b(attempt|retry|retries|retrying|try|rerun)[ #=:x(]{0,3}\d+(?:\)|(?:\s?\/\s?|\s+of\s+)\d+)?/gi, '$1 <n>'],
  [/\[\s{0,3}\d{1,3}%\]/g, ''],
  [/\d+\.\d{6,}/g, '<n>'],
  [/\d{10,}/g, '<n>'],
];

const places: readonly Rule[] = [
  [/(\.[A-Za-z]\w{0,9}):\d+(?::\d+)?(?:-\d+(?::\d+)?)?/g, '$1'],
  [/\(\d+[,:]\s?\d+\)/g, ''],
  [/\b(line|column|col|row)[ :]{1,2}\d+/gi, '$1 <n>'],
];

/** `row 10` in a test's name says which row. */
const placesInNames: readonly Rule[] = places.slice(0, 2);

const durations: readonly Rule[] = [
  [/\b\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|m?sec(?:ond)?s?|milliseconds?|s|min(?:ute)?s?|hours?)\b/g, '<time>'],
];

/** At the end of a test's line only: inside, a duration is part of the test's name. */
const trailing: readonly Rule[] = [
  [/\s*[([]\s?\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|sec|s|m|min)\s?[)\]](?=\s*(?:#|$))/, ''],
  [/(?:\s+\d+(?:\.\d+)?\s?ms|\t\d+(?:\.\d+)?s)$/, ''],
  [/\s*\(<n>\)$/, ''],
];

/** In what an assertion says: numbers and quoted texts are values, but an HTTP status means something. */
const values: readonly Rule[] = [
  [/(["'`])(?:(?!\1)[^\\]|\\.){0,400}\1/g, '<value>'],
  [
    /(\b(?:status|http)(?: ?code)?\b[ :=/\d.]{0,6}?)?(?<![\w.<])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w>])/gi,
    (text) => (/status|http/i.test(text) ? text : '<value>'),
  ],
];

function apply(line: string, rules: readonly Rule[]): string {
  let text = line;
  for (const [pattern, replacement] of rules)
    text = typeof replacement === 'string' ? text.replace(pattern, replacement) : text.replace(pattern, replacement);
  return text;
}

const squeeze = (text: string): string => (/\s\s|[^\S ]|^ | $/.test(text) ? text.replace(/\s+/g, ' ').trim() : text);

/** Without a digit, a path or a seed in it, nothing of a line differs between two runs. */
const mayDiffer = (line: string): boolean => /[\d/\\]|[Ss]eed/.test(line);
/** A single digit does only beside some words and signs. */
const mayDifferInName = (line: string): boolean =>
  mayDiffer(line) &&
  /\d\d|[/\\]|\d *(?:m?s|min?|sec|\xb5s|\u03bcs)\b|[:([]\s{0,3}\d|\d\)|pid|process|thread|worker|seed|attempt|retr|try|rerun/i.test(
    line,
  );

/** A line that names a test: what stands in the name keeps its numbers. */
export const maskName = (line: string): string =>
  squeeze(
    mayDifferInName(line) ? apply(apply(apply(apply(line, trailing), identities), placesInNames), trailing) : line,
  );

/** Any other line about a failure. */
export const maskMessage = (line: string): string =>
  squeeze(mayDiffer(line) ? apply(apply(apply(line, identities), places), durations) : line);

/** A line of an assertion, whose values are not what fails. */
export const maskAssertion = (line: string): string => squeeze(apply(maskMessage(line), values));

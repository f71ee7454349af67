/** What CI systems and programs that run several others put before each line. */

const stamp = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`;
const ci = [
  // Job and step of a downloaded log.
  new RegExp(String.raw`^[^\t]{1,120}\t[^\t]{1,120}\t(?=${stamp} )`),
  /^(?:section_(?:start|end):\d{1,12}:[\w.-]{0,120}(?:\[[^\]]{0,80}\])?|travis_(?:fold|time):[\w:.,=-]{0,200})/,
  new RegExp(String.raw`^\[?${stamp}\]?(?: \d\d[OE]\+?)?[ \t]?`),
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\](?:[WEi]: {0,9}| ?: {0,9})?(?:\[Step \d{1,3}\/\d{1,3}\])?[ \t]/,
  /^\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[ \t]{1,2}/,
  /^#\d{1,4} \d{1,6}\.\d{1,4} /,
  /^##\[(?:error|warning|group|endgroup|section|debug|command)\]/,
  /^##vso\[task\.logissue type=error[^\]]{0,400}\]/,
  /^::(?:group|endgroup|debug|notice)\b[^:]{0,200}::/,
  /^\[Pipeline\] /,
] as const;

const scripts = 'test,build,lint,check,typecheck,type-check,types,format,ci,e2e,unit,verify,compile,validate'.split(
  ',',
);
const script = `(?:${scripts.join('|')})`;
/** turbo and others write `package:script: `, pnpm `folder script: `: the package tells what fails. */
const workspaces = [
  new RegExp(String.raw`^(@?[a-z][\w./-]{0,100}):${script}[\w:.-]{0,40}?: `),
  new RegExp(String.raw`^(?!error |warning |npm |make )([a-z@.][\w@./-]{0,100}) ${script}[\w:.-]{0,40}?(?:: |\$ )`),
] as const;
/** docker compose and foreman write `service | `, concurrently and yarn `[name] ` or `[name]: `. */
const services = [
  // Vitest heads what a test prints so.
  /^(?!std(?:out|err) \|)([A-Za-z][\w.-]{1,60}) {0,40}\| /,
  /^\[(?!error|warn|info|debug|fatal|fail|trace|notice|log)(\d{1,2}|@?[a-z][\w@./-]{0,60})\]:? /,
] as const;

/** Words of which one stands in every line that may have a prefix. */
export const prefixWords: readonly string[] = [
  ...Array.from({ length: 10 }, (_, digit) => `^${digit}`),
  ...['^[', '^##', '^#', '^::', '^section_', '^travis_', '| ', 'Z '],
  ...scripts.flatMap((name) => [`:${name}`, ` ${name}:`, ` ${name}$`]),
];

export interface Unprefixed {
  readonly line: string;
  /** The program of several whose line it is; `null` = there is one only. */
  readonly lane: string | null;
  /** The package that it works on, for the keys. */
  readonly workspace: string | null;
}

export function withoutPrefix(line: string): Unprefixed {
  let rest = line;
  for (const prefix of ci) rest = rest.replace(prefix, '');
  for (const pattern of workspaces) {
    const found = pattern.exec(rest);
    if (found !== null) return { line: rest.slice(found[0].length), lane: found[0], workspace: found[1] as string };
  }
  for (const pattern of services) {
    const found = pattern.exec(rest);
    if (found !== null) return { line: rest.slice(found[0].length), lane: found[1] as string, workspace: null };
  }
  return { line: rest, lane: null, workspace: null };
}

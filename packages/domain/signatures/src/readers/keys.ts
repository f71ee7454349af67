import { maskMessage, maskName } from '../mask.ts';

/**
 * A test: `src/a.test.ts > cart > adds: TypeError`. `file` has been through `paths.short`; `path` are the names of the
 * suites and of the test as the tool prints them; `error` is what `errorKind` gave.
 */
export function testKey(test: { file?: string | null; path: readonly string[]; error?: string | null }): string {
  const names = test.path.map(maskName).filter((name) => name !== '');
  const parts = test.file ? [test.file, ...names] : names;
  if (parts.length === 0) return '';
  return test.error ? `${parts.join(' > ')}: ${test.error}` : parts.join(' > ');
}

/** A rule that is broken: `src/cart.ts: TS2304 total`. `symbol` is a name, never a value: see `symbolsIn`. */
export function ruleKey(broken: { file?: string | null; rule: string; symbol?: string | null }): string {
  const what = broken.symbol ? `${broken.rule} ${broken.symbol}` : broken.rule;
  return broken.file ? `${broken.file}: ${what}` : what;
}

const errorClass =
  /(?:^|[\s:>(])((?:[A-Za-z_][\w$]{0,60}(?:::|\.|\\)){0,8}[A-Za-z_][\w$]{0,60}(?:Error|Exception|Failure|Failed|Exit|Interrupt|Timeout|Fault|Warning|Panic)(?![\w$.\\]|::))/;
const bareError = /^(?:Uncaught )?(?:Error|Exception|Failure|Warning)$/;
const errnoCode =
  /\b(?:ENOENT|EACCES|EPERM|EEXIST|ENOTDIR|EISDIR|EMFILE|ENOSPC|EADDRINUSE|EADDRNOTAVAIL|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EINVAL|ENOMEM|EBUSY|EROFS|ELOOP|ENOTEMPTY|EXDEV|EBADF|EPROTO)\b|\bErrno \d{1,3}\b/;
const httpStatus = /\b(?:status|http)(?:[ _-]?(?:code|error))?[ :=/]{0,3}(?:\d\.\d )?([1-5]\d\d)\b/i;

/**
 * How something failed, out of the line in which a tool prints the error: its class without its package, its errno, its
 * HTTP status, e.g. `AssertionError`, `ENOENT`, `AxiosError 404`. `null` where the line tells none of them; a plain
 * `Error` tells nothing.
 */
export function errorKind(line: string): string | null {
  const found = errorClass.exec(line)?.[1];
  const name = found === undefined ? null : (found.split(/::|[.\\]/).at(-1) as string);
  const parts = [
    name !== null && !bareError.test(name) ? name : null,
    errnoCode.exec(line)?.[0] ?? null,
    httpStatus.exec(line)?.[1] ?? null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

const quoted = /'([^'\n]{1,120})'|"([^"\n]{1,120})"|`([^`\n]{1,120})`|‘([^’\n]{1,120})’|“([^”\n]{1,120})”/g;
const MOST_SYMBOLS = 6;

/**
 * The names that a diagnostic speaks of, in its order, with a blank between: what it puts in quotes and is no number.
 * For tools that quote symbols and types (tsc, rustc, gcc, eslint); not for those that quote values.
 */
export function symbolsIn(message: string): string {
  const symbols: string[] = [];
  for (const match of message.matchAll(quoted)) {
    const text = match.slice(1).find((group) => group !== undefined) ?? '';
    if (/^[\s\d.,:-]*$/.test(text)) continue;
    if (symbols.length < MOST_SYMBOLS) symbols.push(maskMessage(text));
  }
  return symbols.join(' ');
}

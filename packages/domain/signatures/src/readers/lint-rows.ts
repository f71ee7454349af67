import { ruleKey, symbolsIn } from './keys.ts';
import type { Paths } from './reader.ts';

/** What a linter's line says of one place. */
export interface LintRow {
  readonly severity: 'error' | 'warning';
  readonly rule: string;
  readonly message: string;
}

const stylish = /^\s{1,12}\d{1,9}:\d{1,9}\s{1,12}(error|warning|✖|⚠|×)\s{1,12}(\S.{0,4000})$/;

/** A row below a file: `  3:24  error    'price1' is not defined          no-undef`. */
export function stylishRow(line: string): LintRow | null {
  const found = stylish.exec(line);
  if (found === null) return null;
  const [, mark = '', rest = ''] = found;
  const severity = mark === 'warning' || mark === '⚠' ? 'warning' : 'error';
  const at = rest.lastIndexOf('  ');
  if (at === -1) return { severity, rule: rest.startsWith('Parsing error: ') ? 'parsing error' : '', message: rest };
  return { severity, rule: rest.slice(at).trim(), message: rest.slice(0, at).trim() };
}

/** Rules whose messages quote code or text of the file instead of names. */
const quotesValues =
  /(?:^|\/|\()(?:prettier|quotes|indent|no-irregular-whitespace|max-len|spellcheck|CssSyntaxError)\)?$/;

/** Rule + symbol + file. */
export function lintKey(paths: Paths, file: string | null, row: Pick<LintRow, 'rule' | 'message'>): string {
  return ruleKey({
    file: file === null ? null : paths.short(file),
    rule: row.rule === '' ? 'error' : row.rule,
    symbol: quotesValues.test(row.rule) ? null : symbolsIn(firstSentence(row.message)),
  });
}

/** What follows it is advice. */
function firstSentence(message: string): string {
  const end = message.search(/[.!] [A-Z]/);
  return end === -1 ? message : message.slice(0, end);
}

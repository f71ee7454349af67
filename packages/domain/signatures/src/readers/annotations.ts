import { symbolInWords } from './biome.ts';
import { errorKind, ruleKey, testKey } from './keys.ts';
import { lintKey } from './lint-rows.ts';
import type { Answer, Report, ToolReader } from './reader.ts';

/**
 * Annotations for GitHub Actions that have a title: `::error file=src/a.js,line=3,title=no-undef::'x' is not defined`.
 * Test runners put the test's path into the title, linters the rule. One without a title goes to the masking reader.
 */
export const annotations: ToolReader = {
  tool: 'github annotations',
  opens: ['^::error ', '^::warning '],
  start: (report) => ({ take: (_line, text) => take(report, text) }),
};

const annotation = /^::(error|warning) ((?:\w{1,20}=[^,]{0,2000},?){1,12}?)::(.{0,4000})$/;

function take(report: Report, text: string): Answer {
  const found = annotation.exec(text);
  if (found === null) return 'pass';
  const [, severity, list = '', said = ''] = found;
  if (severity === 'warning') return 'taken';
  const properties = new Map(list.split(',').map((pair) => split(pair)));
  const title = properties.get('title');
  if (title === undefined || title === '') return 'pass';
  const file = properties.get('file') ?? null;
  const message = firstLine(said);
  report.failing(keyOf(report, file, title, message), message);
  return 'taken';
}

function keyOf(report: Report, file: string | null, title: string, message: string): string {
  const path = title.split(/ [>›] /);
  const short = file === null ? null : report.paths.short(file);
  if (path.length > 1 || / /.test(title)) {
    const names = short !== null && report.paths.short(path[0] as string) === short ? path.slice(1) : path;
    const error = /^(?:Error: )?expect\(/.test(message) ? null : errorKind(message);
    return testKey({ file: short, path: names, error });
  }
  if (/^(?:lint|assist|format|parse|organizeImports|plugin)\b/.test(title))
    return ruleKey({ file: short, rule: title, symbol: symbolInWords(message) });
  return lintKey(report.paths, file, { rule: title, message: message.replace(/^\S{1,1000}:\d{1,9}:\d{1,9}: /, '') });
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), decoded(pair.slice(at + 1))];
}

/** Playwright says the title again before the error. */
function firstLine(said: string): string {
  const lines = said.split('%0A', 12).map((line) => decoded(line).trim());
  return lines.find((line) => line !== '' && !/^\d{1,9}\) .{0,2000} › /.test(line)) ?? '';
}

const decoded = (text: string): string =>
  text.includes('%')
    ? text
        .replaceAll('%2C', ',')
        .replaceAll('%3A', ':')
        .replaceAll('%0D', '')
        .replaceAll('%0A', ' ')
        .replaceAll('%25', '%')
    : text;

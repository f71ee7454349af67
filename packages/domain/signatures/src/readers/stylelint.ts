import { outputLimits } from '../limits.ts';
import { lintKey, stylishRow } from './lint-rows.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** Stylelint: the string, verbose, unix and compact formats. */
export const stylelint: ToolReader = {
  tool: 'stylelint',
  opens: [
    '.css',
    '.scss',
    '.sass',
    '.less',
    '.vue',
    '.svelte',
    '.astro',
    '.html',
    '  ✖  ',
    '  ⚠  ',
    '  ×  ',
    ' problems (',
    ' problem (',
    'potentially fixable with the "--fix" option',
    ' found',
  ],
  start: (report) => new StylelintReader(report),
};

const path = /^[^\s:][^:]{0,1000}\.(?:[sp]?css|sass|less|sss|vue|svelte|astro|html?|[cm]?[jt]sx?|md)$/;
const unix = /^(\S.{0,1000}?):\d{1,9}:\d{1,9}: (.{0,4000}) \(([\w@/-]{1,200})\) \[(error|warning)\]$/;
const compact = /^(\S.{0,1000}?): line \d{1,9}, col \d{1,9}, (error|warning) - (.{0,4000}) \(([\w@/-]{1,200})\)$/;
const footer = /^(?:[✖×] )?\d{1,9} problems? \(\d{1,9} errors?, \d{1,9} warnings?\)$/;
const fixable =
  /^\d{1,9} (?:errors?|warnings?)(?: and \d{1,9} warnings?)? potentially fixable with the "--fix" option\.$/;
const summary =
  /^(?:\d{1,9} (?:sources? checked|(?:errors?|warnings?) found)|[\w@/-]{1,200}: \d{1,9}(?: \((?:maybe )?fixable\))?)$/;

class StylelintReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;
  #inSummary = false;
  readonly #warnings = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (path.test(line)) {
      this.#file = line;
      return 'hold';
    }
    const row = /[✖⚠×]/.test(line.slice(0, 40)) ? stylishRow(line) : null;
    if (row !== null) {
      this.#found(this.#file, row.severity, row.rule, row.message);
      return 'hold';
    }
    // A carriage return before the end of a line reads as a blank line.
    if (text === '' && this.#file !== null) return 'hold';
    this.#file = null;
    return this.#oneLine(line, text);
  }

  #oneLine(line: string, text: string): Answer {
    const inUnix = unix.exec(line);
    if (inUnix !== null) {
      const [, file = '', message = '', rule = '', severity] = inUnix;
      return this.#found(file, severity === 'error' ? 'error' : 'warning', rule, message);
    }
    const inCompact = compact.exec(line);
    if (inCompact !== null) {
      const [, file = '', severity, message = '', rule = ''] = inCompact;
      return this.#found(file, severity === 'error' ? 'error' : 'warning', rule, message);
    }
    if (footer.test(text) || fixable.test(text)) return 'taken';
    if (summary.test(text) && (this.#inSummary || / (?:checked|found)$/.test(text))) {
      this.#inSummary = true;
      return 'hold';
    }
    if (this.#inSummary && (text === '' || path.test(text) || text.startsWith('/'))) return 'hold';
    this.#inSummary = false;
    return 'pass';
  }

  #found(file: string | null, severity: 'error' | 'warning', rule: string, message: string): Answer {
    const key = lintKey(this.#report.paths, file, { rule, message });
    if (severity === 'error') this.#report.failing(key, message);
    else if (this.#warnings.size < outputLimits.remembered) this.#warnings.set(key, message);
    return 'taken';
  }
}

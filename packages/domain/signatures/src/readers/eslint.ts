import { outputLimits } from '../limits.ts';
import { lintKey, stylishRow } from './lint-rows.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** ESLint: the stylish, unix and compact formats. Oxlint prints the first two with its own rule names. */
export const eslint: ToolReader = {
  tool: 'eslint',
  opens: [
    '^/',
    ':\\',
    '  error  ',
    '  warning  ',
    ' problems',
    ' problem',
    '[Error/',
    '[Warning/',
    ', Error - ',
    ', Warning - ',
    '^ESLint found too many warnings',
  ],
  start: (report) => new EslintReader(report),
};

const path = /^(?:\/|[A-Za-z]:\\)[^:]{1,1000}\.\w{1,10}$/;
const unix = /^(\S.{0,1000}?):\d{1,9}:\d{1,9}: (.{0,4000}) \[(Error|Warning)(?:\/([^\]]{1,200}))?\]$/;
const compact =
  /^(\S.{0,1000}?): line \d{1,9}, col \d{1,9}, (Error|Warning) - (.{0,4000}?)(?: \(([^()]{1,200}(?:\([^()]{1,100}\))?)\))?$/;
const footer = /^(?:✖ |× )?\d{1,9} problems?(?: \(\d{1,9} errors?, \d{1,9} warnings?\))?$/;
const fixable = /^\d{1,9} errors? and \d{1,9} warnings? potentially fixable with the `--fix` option\.$/;

class EslintReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;
  /** Warnings fail a run only where it says that there were too many. */
  readonly #warnings = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (path.test(line)) {
      this.#file = line;
      return 'hold';
    }
    const row = stylishRow(line);
    if (row !== null && !/[✖⚠×]/.test(line.slice(0, 24))) {
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
      const [, file = '', message = '', severity, rule = ''] = inUnix;
      this.#found(file, severity === 'Error' ? 'error' : 'warning', rule, message);
      return 'taken';
    }
    const inCompact = compact.exec(line);
    if (inCompact !== null) {
      const [, file = '', severity, message = '', rule = ''] = inCompact;
      this.#found(file, severity === 'Error' ? 'error' : 'warning', rule, message);
      return 'taken';
    }
    if (text.startsWith('ESLint found too many warnings')) {
      for (const [key, message] of this.#warnings) this.#report.failing(key, message);
      return 'taken';
    }
    return footer.test(text) || fixable.test(text) ? 'taken' : 'pass';
  }

  #found(file: string | null, severity: 'error' | 'warning', rule: string, message: string): void {
    const parsing = rule === '' && message.startsWith('Parsing error: ');
    const key = lintKey(this.#report.paths, file, { rule: parsing ? 'parsing error' : rule, message });
    if (severity === 'error') this.#report.failing(key, message);
    else if (this.#warnings.size < outputLimits.remembered) this.#warnings.set(key, message);
  }
}

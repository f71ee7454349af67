import { ruleKey, symbolsIn } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** The TypeScript compiler, plain and pretty, also as vue-tsc, ts-node or a bundler prints it. */
export const tsc: ToolReader = {
  tool: 'tsc',
  opens: ['error TS', '^Found '],
  start: (report) => new TscReader(report),
};

const diagnostic = /^(?:(\S.{0,1000}?)(?:\(\d{1,9},\d{1,9}\): |:\d{1,9}:\d{1,9} - ))?error (TS\d{3,6}): (.{0,4000})$/;
const found =
  /^Found \d{1,9} errors?(?: in (?:\d{1,9} files?\.?|the same file, starting at: .{1,1000}|.{1,1000}))?[.,]?(?: Watching for file changes\.)?$/;

class TscReader implements LineReader {
  readonly #report: Report;
  /** Below a diagnostic: what explains it, code frames, the table of files. */
  #below = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const error = diagnostic.exec(line);
    if (error !== null) {
      const [, file, rule = '', message = ''] = error;
      const key = ruleKey({
        file: file === undefined ? null : this.#report.paths.short(file),
        rule,
        // The type of a literal is a value.
        symbol: symbolsIn(message.replace(/'"[^'"]{0,400}"'/g, "'string'")),
      });
      this.#report.failing(key, text);
      this.#below = true;
      return 'hold';
    }
    if (found.test(text)) {
      this.#below = true;
      return 'hold';
    }
    if (this.#below && isBelow(line, text)) return 'hold';
    this.#below = false;
    return 'pass';
  }
}

/** Indented, a numbered line of code, its marks, a heading of the table, or blank. */
const isBelow = (line: string, text: string): boolean =>
  line !== text || text === '' || /^(?:\d{1,9} |~{1,4000}$|Errors {2}Files$)/.test(text);

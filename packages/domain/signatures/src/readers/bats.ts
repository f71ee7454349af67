import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * bats: TAP without a version and without dashes, whose comments name the file, and the pretty form: a file's name, then
 * `✗ totals the cart`.
 */
export const bats: ToolReader = {
  tool: 'bats',
  opens: ['^not ok ', '^ok ', '^TAP version', '^✗ ', '.bats', '^# (', '^(in test file'],
  start: (report) => new BatsReader(report),
};

const failing = /^not ok \d{1,7} (?!- )(\S.{0,600}?)(?: in \d{1,9}ms)?$/;
const pretty = /^✗ (\S.{0,600}?)(?: \[\d{1,9}\])?(?: {2,400}\d{1,6}\/\d{1,6})?$/;
const inFile = /in test file (\S.{0,400}?\.bats), line \d/;
const place = /^(?:# ?)?\s{0,4}\(?(?:in test file|from function|in file) .{0,600}$/;
const loaded = /^# (\S.{0,400}?\.bats): line \d{1,7}: /;

class BatsReader implements LineReader {
  readonly #report: Report;
  #versioned = false;
  #test: { name: string; line: string; file: string | null } | null = null;
  #file: string | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text.startsWith('TAP version')) {
      this.#versioned = true;
      return 'pass';
    }
    if (this.#test !== null && this.#below(text)) return 'hold';
    this.#settle();
    const test = this.#versioned || line !== text ? null : failing.exec(line);
    const shown = test === null ? pretty.exec(text) : null;
    if (test === null && shown === null) return this.#other(line, text);
    if (shown !== null && this.#file === null) return 'pass';
    if (test !== null && / # (?:TODO|skip)/i.test(line)) return 'taken';
    this.#test = { name: ((test ?? shown)?.[1] ?? '').trimEnd(), line: text, file: shown === null ? null : this.#file };
    return 'hold';
  }

  end(): void {
    this.#settle();
  }

  #other(line: string, text: string): Answer {
    if (/^[\w./+-]{1,300}\.bats$/.test(line)) {
      this.#file = line;
      return 'open';
    }
    const gone = /^Error: Test file "(.{1,400})" does not exist$/.exec(text)?.[1];
    if (gone === undefined) return 'pass';
    this.#report.failing(testKey({ path: [this.#report.paths.short(gone)], error: 'not found' }), text);
    return 'taken';
  }

  /** Where it failed, and the command that did. */
  #below(text: string): boolean {
    const test = this.#test;
    if (test === null) return false;
    const file = inFile.exec(text)?.[1] ?? loaded.exec(text)?.[1];
    if (file !== undefined) test.file = this.#report.paths.short(file);
    return place.test(text) || text.startsWith('#') || (this.#file !== null && /^(?:`|in test file|from function)/.test(text));
  }

  #settle(): void {
    const test = this.#test;
    this.#test = null;
    if (test !== null) this.#report.failing(testKey({ file: test.file, path: [test.name] }), test.line);
  }
}

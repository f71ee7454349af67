import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** bats on a terminal: a file's name, then `✗ totals the cart`. Elsewhere it prints TAP and is read as that. */
export const bats: ToolReader = {
  tool: 'bats',
  opens: ['✗ ', '✓ ', '.bats', ' bats warning: '],
  start: (report) => new BatsReader(report),
};

/** While a test runs its name and number stand on the line that its result then overwrites. */
const result = /^(?:.{1,600}\d{1,6}\/\d{1,6} )?([✗✓]) (\S.{0,600}?)(?: \[\d{1,9}\])?$/;
const header = /^(\S{0,300}\.bats)$/;
const inFile = /in (?:test )?file (\S.{0,400}?\.bats), line \d/;
const footer = /^\d{1,6} tests?, \d{1,6} failures?/;

class BatsReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;
  #test: { name: string; line: string; file: string } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const file = header.exec(line)?.[1];
    if (file !== undefined) {
      this.#settle();
      this.#file = file;
      return 'open';
    }
    const missing = /^Error: Test file "(.{1,400})" does not exist$/.exec(text)?.[1];
    if (missing !== undefined) {
      this.#report.failing(testKey({ path: [this.#report.paths.short(missing)], error: 'not found' }), text);
      return 'taken';
    }
    if (this.#file === null) return 'pass';
    const test = result.exec(text);
    if (test !== null) return this.#result(test, text);
    if (footer.test(text)) {
      this.#settle();
      return 'close';
    }
    return this.#below(line, text);
  }

  end(): void {
    this.#settle();
  }

  #result(test: RegExpExecArray, line: string): Answer {
    this.#settle();
    if (test[1] === '✗') this.#test = { name: test[2] as string, line, file: this.#file as string };
    return 'adopt';
  }

  /** Where it failed, the command that did, and what it printed. */
  #below(line: string, text: string): Answer {
    if (this.#test === null || line === text || text === '') return 'pass';
    const file = inFile.exec(text)?.[1];
    if (file !== undefined) this.#test.file = this.#report.paths.short(file);
    return 'taken';
  }

  #settle(): void {
    const test = this.#test;
    this.#test = null;
    if (test !== null) this.#report.failing(testKey({ file: test.file, path: [test.name] }), test.line);
  }
}

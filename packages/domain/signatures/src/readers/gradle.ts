import { ruleKey, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** Gradle: `shop.CartTest > total FAILED` with its error below. Compilers inside speak for themselves. */
export const gradle: ToolReader = {
  tool: 'gradle',
  opens: [
    ' FAILED',
    '^* What went wrong',
    '^FAILURE: Build failed',
    '^BUILD FAILED',
    '^> Task :',
    '^Execution failed for task',
    '^* Try:',
    '^* Get more help',
    '^> There were failing tests',
    '^> Compilation failed',
    'org.gradle.',
    '^* Exception is',
  ],
  start: (report) => new GradleReader(report),
};

const test = /^(\S.{0,300}?) > (\S.{0,400}?) FAILED$/;
const raised = /^(?:[a-z_$][\w$]{0,80}\.){0,12}([A-Z][\w$]{0,120})(?::| at |$)/;

class GradleReader implements LineReader {
  readonly #report: Report;
  #test: { path: string[]; line: string } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#test !== null) {
      const error = line === text ? null : (raised.exec(text)?.[1] ?? null);
      this.#settle(error);
      if (error !== null) return 'taken';
    }
    const found = line === text ? test.exec(line) : null;
    if (found !== null && !line.startsWith('> ')) {
      const names = (found[2] as string).split(' > ').map((name) => name.replace(/\(\)$/, ''));
      this.#test = { path: [found[1] as string, ...names], line };
      return 'hold';
    }
    const task = /^Execution failed for task '(:\S{1,200})'\.$/.exec(text)?.[1];
    if (task !== undefined) {
      this.#report.wrapping(ruleKey({ rule: 'task', symbol: task }), text);
      return 'taken';
    }
    const own =
      /^(?:(?:> Task )?:\S{1,200} FAILED$|> (?:There were failing tests|Compilation failed)|\* (?:What went wrong|Exception is|Try|Get more help)|FAILURE: Build failed|BUILD FAILED|> Task :|(?:Caused by: )?org\.gradle\.)/;
    return own.test(line) || /^\d{1,7} tests? completed, \d{1,7} failed/.test(line) ? 'taken' : 'pass';
  }

  end(): void {
    this.#settle(null);
  }

  #settle(error: string | null): void {
    const item = this.#test;
    this.#test = null;
    if (item !== null) this.#report.failing(testKey({ path: item.path, error }), item.line);
  }
}

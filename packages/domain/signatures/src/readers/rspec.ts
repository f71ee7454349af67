import { outputLimits } from '../limits.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * RSpec. The numbered failures tell the error, the list of commands below them the file: both in one order, so they are
 * joined by name and place in it. Where the list was cut, the file is the spec in the failure's own trace.
 */
export const rspec: ToolReader = {
  tool: 'rspec',
  opens: [
    '^Failures:',
    '^Pending:',
    ' (FAILED - ',
    '^rspec ',
    '^Failed examples:',
    '^An error occurred',
    ' examples, ',
    ' example, ',
    '^1) ',
  ],
  start: (report) => new RspecReader(report),
};

const numbered = /^ {2,6}(\d{1,6})\) (\S.{0,600})$/;
const command = /^rspec (?:'([^']{1,400})'|(\S{1,400})) # (\S.{0,600})$/;
const errorLine = /^ {4,60}((?:[A-Z]\w{0,80}::){0,10}[A-Z]\w{0,100}):$/;
const trace = /^\s{1,40}# (?:\.\/)?(\S{1,300}_spec\.rb):\d/;
const counts = /^\d{1,9} examples?, \d{1,9} failures?/;

interface Failing {
  readonly name: string;
  error: string | null;
  file: string | null;
}

class RspecReader implements LineReader {
  readonly #report: Report;
  #part: 'none' | 'failures' | 'pending' | 'commands' = 'none';
  #failures: Failing[] = [];
  #open: Failing | null = null;
  #several = false;
  #loading: { file: string; seen: boolean } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return this.#part === 'none' && this.#loading === null;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    const part = this.#heading(line);
    if (part !== null) return part;
    if (this.#loading !== null && this.#load(line, text)) return 'taken';
    if (/ \(FAILED - \d{1,6}\)$/.test(line)) return 'adopt';
    const listed = command.exec(line);
    if (listed !== null) {
      this.#listed((listed[1] ?? listed[2]) as string, listed[3] as string, line);
      return 'taken';
    }
    if (this.#part === 'commands') {
      this.#part = 'none';
      return 'leave';
    }
    return this.#part === 'failures' || this.#part === 'pending' ? this.#detail(line, text) : 'pass';
  }

  end(): void {
    this.#settleLoading(null);
    for (const { name, error, file } of this.#failures)
      this.#report.failing(testKey({ file, path: [name], error }), name);
  }

  #heading(line: string): Answer | null {
    if (line === 'Failures:') {
      this.#part = 'failures';
      // Jasmine heads its list in the same way; the first item tells whose it is.
      return 'pass';
    }
    if (line.startsWith('Pending: (')) {
      this.#part = 'pending';
      return 'adopt';
    }
    if (line === 'Failed examples:') {
      this.#part = 'commands';
      return 'open';
    }
    const loading =
      /^An error occurred (?:while loading (\S.{0,400}?)\.(?: - .{0,200})?|in an? [`'](.{1,100})['`] hook\.)$/.exec(
        line,
      );
    if (loading !== null) {
      this.#settleLoading(null);
      this.#loading = {
        file: loading[1] === undefined ? (loading[2] as string) : this.#report.paths.short(loading[1]),
        seen: false,
      };
      return 'open';
    }
    if (!counts.test(line)) return null;
    this.#part = 'none';
    this.#settleLoading(null);
    return 'open';
  }

  #detail(line: string, text: string): Answer {
    const found = numbered.exec(line);
    if (found !== null) {
      this.#open = null;
      this.#several = false;
      if (this.#part === 'failures' && this.#failures.length < outputLimits.remembered) {
        const fixed = (found[2] as string).endsWith(' FIXED');
        this.#open = {
          name: fixed ? (found[2] as string).slice(0, -6) : (found[2] as string),
          error: fixed ? 'fixed' : null,
          file: null,
        };
        this.#failures.push(this.#open);
      }
      return 'adopt';
    }
    if (/^Got \d{1,6} (?:failures?|other errors?)/.test(text)) this.#several = true;
    const open = this.#open;
    if (open !== null) {
      const error = errorLine.exec(line)?.[1];
      if (error !== undefined && open.error === null && !this.#several) open.error = error.split('::').at(-1) as string;
      const file = trace.exec(line)?.[1];
      if (file !== undefined) open.file = this.#report.paths.short(file);
    }
    return line !== text || text.startsWith('#') ? 'taken' : 'pass';
  }

  /** `spec/cart_spec.rb:2`, or `spec/cart_spec.rb[1:3:4]` where examples share a line. */
  #listed(place: string, name: string, line: string): void {
    const file = this.#report.paths.short(place.replace(/(?::\d{1,7}|\[[\d:]{1,60}\])$/, ''));
    const at = this.#failures.findIndex((failing) => failing.name === name);
    const error = at === -1 ? null : (this.#failures[at]?.error ?? null);
    if (at !== -1) this.#failures.splice(at, 1);
    this.#report.failing(testKey({ file, path: [name], error }), line);
  }

  #load(line: string, text: string): boolean {
    const error = /^((?:[A-Z]\w{0,80}::){0,10}[A-Z]\w{0,100}):$/.exec(line)?.[1];
    if (error !== undefined) this.#settleLoading(error.split('::').at(-1) as string);
    return error !== undefined || line !== text || /^(?:# |Failure\/Error: |rspec )/.test(text);
  }

  #settleLoading(error: string | null): void {
    const loading = this.#loading;
    this.#loading = null;
    if (loading !== null) this.#report.failing(testKey({ path: [loading.file], error }), loading.file);
  }
}

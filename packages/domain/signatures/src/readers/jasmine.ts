import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Jasmine's closing list:
 *
 *     Failures:
 *     1) cart with a discount adds 1 item
 *       Message:
 *         Expected 41 to be 4.
 *       Stack:
 *             at UserContext.<anonymous> (file:///…/cart.spec.js:4:44)
 *
 * Names of suites and spec are joined by blanks there; the file is told by the frames alone.
 */
export const jasmine: ToolReader = {
  tool: 'jasmine',
  opens: ['^Failures:', '^1) ', '^Suite error: ', ' specs, ', '^1 spec, ', '^Incomplete: ', '^Error: While loading '],
  start: (report) => new JasmineReader(report),
};

const begins = /^(?:\d{1,9}\) (\S.{0,2000})|Suite error: (.{1,2000})|Top suite)$/;
const counts = /^\d{1,9} specs?, \d{1,9} failures?(?:, \d{1,9} pending specs?)?$/;
const loading = /^Error: While loading (\S.{0,1000}?\.\w{1,10}): (.{1,3000})$/;
const parts: ReadonlySet<string> = new Set(['Message:', 'Stack:', 'Pending:', 'Temporarily disabled with xit']);
const frame = /^at (?:(.{1,300}?) \()?((?!node:)[^()\s][^()]{0,1000}?):\d{1,9}:\d{1,9}\)?$/;
const looksLikeTest = /[._-](?:test|spec)s?\.\w{1,4}$|(?:^|\/)(?:tests?|specs?|__tests__)\//i;

class JasmineReader implements LineReader {
  readonly #report: Report;
  #inList = false;
  /** The heading was the last that mattered. */
  #isHeaded = false;
  /** Below the first name: nothing has shown yet that the list is Jasmine's. */
  #awaitsFirst = false;
  /** The closing counts were there: the seed is the last line. */
  #counted = false;
  #name: string | null = null;
  #part: string | null = null;
  #file: string | null = null;
  readonly #errors = new Set<string>();
  #told = '';

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return this.#awaitsFirst ? 'hold' : this.#inList ? 'taken' : 'pass';
    const indent = line.length - text.length;
    if (indent === 0) {
      const answer = this.#atMargin(text);
      if (answer !== null) return answer;
    }
    if (!this.#inList) return 'pass';
    if (this.#name === null) return 'pass';
    if (indent === 2 && parts.has(text)) {
      this.#part = text;
      this.#awaitsFirst = false;
      return 'adopt';
    }
    if (this.#part === 'Message:') this.#message(text);
    if (this.#part === 'Stack:') this.#frame(text);
    return indent === 0 ? 'pass' : 'taken';
  }

  end(): void {
    this.#settle();
  }

  #atMargin(text: string): Answer | null {
    if (text === 'Failures:') {
      this.#settle();
      this.#inList = false;
      this.#isHeaded = true;
      // RSpec heads its list in the same way.
      return 'pass';
    }
    const broken = loading.exec(text);
    if (broken !== null) return this.#notLoaded(broken[1] as string, broken[2] as string);
    const named = begins.exec(text);
    if (named !== null && (this.#inList || this.#isHeaded))
      return this.#item(named[1] ?? (named[2] === undefined ? 'Top suite' : `Suite error: ${named[2]}`));
    if (counts.test(text) || text.startsWith('Incomplete: ')) {
      this.#settle();
      this.#inList = false;
      this.#counted = true;
      return 'adopt';
    }
    if (/^(?:Finished in \d|Randomized with seed |Ran in parallel with )/.test(text)) {
      return text.startsWith('Randomized') && this.#counted ? 'close' : 'taken';
    }
    return null;
  }

  /** The run ends there: what follows is the stack and the cause, which says the same. */
  #notLoaded(file: string, said: string): Answer {
    this.#report.failing(testKey({ file: this.#report.paths.short(file), path: [], error: errorKind(said) }), said);
    return 'adopt';
  }

  /** Right below `Failures:`, or after another. */
  #item(name: string): Answer {
    this.#settle();
    this.#name = name;
    if (this.#inList) return 'taken';
    this.#inList = true;
    this.#isHeaded = false;
    this.#awaitsFirst = true;
    return 'hold';
  }

  #message(text: string): void {
    if (this.#told === '') this.#told = text;
    const kind = text.startsWith('Error: Timeout - Async function did not complete') ? 'timeout' : errorKind(text);
    if (kind !== null && this.#errors.size < 8) this.#errors.add(kind);
    this.#part = 'rest of the message';
  }

  #frame(text: string): void {
    const found = frame.exec(text);
    if (found === null || this.#file !== null) return;
    const [, caller = '', path = ''] = found;
    if (path.includes('/node_modules/')) return;
    if (caller.includes('UserContext.') || looksLikeTest.test(path)) this.#file = this.#report.paths.short(path);
  }

  #settle(): void {
    const name = this.#name;
    // Without a message it is a pending spec or another tool's list.
    if (name !== null && this.#told !== '') {
      const error = [...this.#errors][0] ?? null;
      this.#report.failing(testKey({ file: this.#file, path: [name], error }), this.#told);
    }
    this.#name = null;
    this.#part = null;
    this.#file = null;
    this.#told = '';
    this.#errors.clear();
  }
}

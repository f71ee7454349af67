import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * The closing list of Mocha, which its spec, dot, min, list, progress, nyan and landing reporters share:
 *
 *     3 passing (9ms)
 *     1 failing
 *
 *     1) cart
 *          with a discount
 *            adds 1 item:
 *        TypeError: …
 *         at Context.<anonymous> (test/cart.test.js:4:40)
 *
 * The test's file is told by the frames alone. What stands above the list is noise of the tests.
 */
export const mocha: ToolReader = {
  tool: 'mocha',
  opens: [' passing (', ' failing', '^Exception during run: ', '^["start",{', '^["pass",{', '^["fail",{', '^["end",{'],
  start: (report) => new MochaReader(report),
};

const passing = /^\d{1,9} passing \(\d[\d.]{0,12}(?:ms|s|m|h|d)\)$/;
const counts = /^\d{1,9} (?:failing|pending)$/;
const begins = /^\d{1,9}\) (\S.{0,2000})$/;
const hook = /^("(?:before|after) (?:each|all)" hook)(?:: (.{1,500}?))?(?: (?:for|in) ".{1,2000}")?$/;
const frame = /^at (?:(.{1,300}?) \()?((?!node:)[^()\s][^()]{0,1000}?):\d{1,9}:\d{1,9}\)?$/;
const timedOut = /^Error: Timeout of \d{1,12}ms exceeded\..{0,400}\(((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]{1,1000})\)$/;
const looksLikeTest = /[._-](?:test|spec)s?\.\w{1,4}$|(?:^|\/)(?:tests?|specs?|__tests__)\//;
const loading = /^Exception during run: (.{1,3000})$/;
const whichFile = [/@(\/.{1,1000}?) \]/, /imported from (\S{1,1000})$/, /Cannot find module '(.{1,1000}?)'/];

const streamed = /^\["(?:start|pass|fail|end)",\{/;

/** All suites' names by a blank, as every reporter but the spec one has them, then the test's. */
export function mochaPath(fullTitle: string, title: string): string[] {
  if (title === '' || !fullTitle.endsWith(` ${title}`)) return [fullTitle];
  return [fullTitle.slice(0, -title.length - 1), title];
}

class MochaReader implements LineReader {
  readonly #report: Report;
  #inList = false;
  #path: string[] = [];
  /** `title`: its lines come; `error`: the next line that is not blank is one; `frames`: the file is looked for. */
  #part: 'none' | 'title' | 'error' | 'frames' = 'none';
  #error: string | null = null;
  #told = '';
  #file: string | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return this.#inList ? 'taken' : 'pass';
    const indent = line.length - text.length;
    if (indent === 2 && passing.test(text)) return this.#begin();
    if (indent === 2 && counts.test(text)) return text.endsWith('failing') ? this.#begin() : 'taken';
    if (text.startsWith('Exception during run: ')) return this.#notLoaded(text);
    if (streamed.test(line)) return this.#streamed(line);
    if (!this.#inList) return 'pass';
    const title = indent === 2 ? begins.exec(text) : null;
    if (title !== null) {
      this.#settle();
      this.#path = [title[1] as string];
      this.#part = 'title';
      return 'taken';
    }
    return this.#below(text, indent);
  }

  end(): void {
    this.#settle();
  }

  #begin(): Answer {
    this.#settle();
    this.#inList = true;
    return 'adopt';
  }

  #below(text: string, indent: number): Answer {
    if (this.#part === 'none') return 'pass';
    if (this.#part === 'title') {
      if (indent >= 7 && this.#path.length < 32 && !this.#path.at(-1)?.endsWith(':')) {
        this.#path.push(text);
        return 'taken';
      }
      this.#part = 'error';
    }
    if (this.#part === 'error') this.#firstLine(text);
    else if (text.startsWith('at ')) this.#frame(text);
    else if (indent === 0) return 'pass';
    return 'taken';
  }

  #firstLine(text: string): void {
    const late = timedOut.exec(text);
    if (late !== null) this.#file = this.#report.paths.short(late[1] as string);
    this.#error = text.startsWith('Error: Timeout of ') ? 'timeout' : errorKind(text);
    this.#told = text;
    this.#part = 'frames';
  }

  /** Mocha calls a test's function with a context: that frame is in the test's file. Else the first that looks so. */
  #frame(text: string): void {
    const found = frame.exec(text);
    if (found === null || this.#file !== null) return;
    const [, caller = '', path = ''] = found;
    if (path.includes('/node_modules/')) return;
    if (caller.includes('Context.') || looksLikeTest.test(path)) this.#file = this.#report.paths.short(path);
  }

  #settle(): void {
    if (this.#part !== 'none') {
      const names = this.#path.map((name) => name);
      const last = (names.pop() as string).replace(/:$/, '');
      const called = hook.exec(last);
      names.push(called === null ? last : [called[1], called[2]].filter((part) => part !== undefined).join(': '));
      const title = names.pop() as string;
      const suites = names.length === 0 ? [] : [names.join(' ')];
      this.#report.failing(
        testKey({ file: this.#file, path: [...suites, title], error: this.#error }),
        this.#told || last,
      );
    }
    this.#part = 'none';
    this.#file = null;
    this.#error = null;
    this.#told = '';
  }

  /** The json-stream reporter: each event is a list in a line. */
  #streamed(line: string): Answer {
    if (line.startsWith('["end"')) return 'close';
    if (!line.startsWith('["fail"')) return line.startsWith('["start"') ? 'open' : 'adopt';
    const value = (name: string): string => {
      const found = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.){0,1000})`).exec(line)?.[1] ?? '';
      return (found.split('\\n', 1)[0] as string).replace(/\\(["\\/])/g, '$1');
    };
    const stack = value('stack');
    const file = value('file');
    this.#report.failing(
      testKey({
        file: file === '' ? null : this.#report.paths.short(file),
        path: mochaPath(value('fullTitle'), value('title')),
        error: stack.startsWith('Error: Timeout of ') ? 'timeout' : errorKind(stack),
      }),
      value('err'),
    );
    return 'adopt';
  }

  #notLoaded(text: string): Answer {
    const said = loading.exec(text)?.[1] ?? '';
    const path = whichFile.map((pattern) => pattern.exec(said)?.[1]).find((found) => found !== undefined);
    const file = path === undefined ? null : this.#report.paths.short(path);
    this.#report.failing(
      testKey({ file, path: file === null ? ['Exception during run'] : [], error: errorKind(said) }),
      text,
    );
    return 'adopt';
  }
}

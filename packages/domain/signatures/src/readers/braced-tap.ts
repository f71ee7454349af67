import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * TAP as Vitest's tap and tap-flat reporters and node-tap write it: subtests stand in braces, and a test's line ends
 * with its time.
 *
 *     not ok 1 - test/cart.test.js # time=12.76ms {
 *         not ok 1 - adds 1 item # time=8.01ms
 *             ---
 *             error:
 *                 name: "AssertionError"
 */
export const bracedTap: ToolReader = {
  tool: 'tap',
  opens: ['# time='],
  start: (report) => new BracedTapReader(report),
};

const testLine = /^(not ok|ok) \d{1,9} - (.{1,3000}?) # (?:(?:SKIP|TODO) )?time=\d[\d.]{0,20}ms( \{)?$/;

interface Suite {
  readonly indent: number;
  readonly name: string;
  failed: boolean;
}

class BracedTapReader implements LineReader {
  readonly #report: Report;
  #suites: Suite[] = [];
  /** A failing test until its block is over. */
  #failed: {
    readonly path: readonly string[];
    readonly line: string;
    readonly indent: number;
    error: string | null;
  } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const indent = line.length - text.length;
    const found = testLine.exec(text);
    if (found !== null) return this.#test(found[1] === 'ok', found[2] as string, found[3] !== undefined, indent, text);
    const failed = this.#failed;
    if (failed !== null && indent > failed.indent) {
      const [, member, value = ''] = /^(name|message): "(.{0,3000}?)"?$/.exec(text) ?? [];
      if (member === 'name') failed.error = errorKind(`${value}: `);
      if (member === 'message' && /^(?:Test|Hook) timed out in /.test(value)) failed.error = 'timeout';
      if (text === '...') this.#settle();
      return 'taken';
    }
    if (text === '}') {
      this.#settle();
      this.#leave(indent);
      return indent === 0 ? 'close' : 'taken';
    }
    return /^1\.\.\d{1,9}$/.test(text) && indent > 0 ? 'taken' : 'pass';
  }

  end(): void {
    this.#settle();
    this.#leave(0);
  }

  #test(passed: boolean, name: string, opens: boolean, indent: number, text: string): Answer {
    this.#settle();
    this.#leave(indent);
    if (opens) {
      if (this.#suites.length < outputLimits.headings) this.#suites.push({ indent, name, failed: !passed });
      return 'adopt';
    }
    if (!passed) {
      for (const suite of this.#suites) suite.failed = false;
      const names = [
        ...this.#suites.map((suite) => suite.name),
        ...(this.#suites.length === 0 ? name.split(' > ') : [name]),
      ];
      this.#failed = { path: names, line: text, indent, error: null };
    }
    return 'adopt';
  }

  /** A file or suite that failed and in which no test did: it did not load, or its hooks failed. */
  #leave(indent: number): void {
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) {
      const path = this.#suites.map((suite) => suite.name);
      if (this.#suites.pop()?.failed) {
        for (const suite of this.#suites) suite.failed = false;
        this.#tell(path, null, path.join(' > '));
      }
    }
  }

  #settle(): void {
    const failed = this.#failed;
    this.#failed = null;
    if (failed !== null) this.#tell(failed.path, failed.error, failed.line);
  }

  #tell([file = '', ...path]: readonly string[], error: string | null, message: string): void {
    this.#report.failing(testKey({ file: this.#report.paths.short(file), path, error }), message);
  }
}

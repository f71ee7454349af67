import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * The spec and dot reporters of node:test (its TAP is read as TAP).
 *
 * The tree names a test's suites, the list of failing tests below it names its file and error: a failure's key joins the
 * two, in the order in which both come. Where one of them was cut off, the other alone makes the key.
 */
export const nodeTest: ToolReader = {
  tool: 'node:test',
  opens: ['Failed tests:', '^✖ ', '^✔ ', '^▶ ', '^﹣ ', '^⚠ ', '^test at ', '^ℹ '],
  passing: [['✔ ', 'ms)']],
  start: (report) => new NodeTestReader(report),
};

interface Suite {
  readonly indent: number;
  readonly name: string;
  failed: boolean;
}

/** A failing test of the list, until the line below it tells the error. */
interface Listed {
  readonly file: string | null;
  readonly path: readonly string[];
  readonly line: string;
}

const testLine = /^[✖✔﹣⚠] (.{1,3000}?) \(\d{1,12}(?:\.\d{1,12})?ms\)(?: # (.{0,200}))?$/;
const summary = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]{1,30}$/;

class NodeTestReader implements LineReader {
  readonly #report: Report;
  #suites: Suite[] = [];
  /** Failing tests of the tree that the list has not named yet. */
  readonly #inTree: { path: string[]; line: string; error: string | null }[] = [];
  /** Below the heading of the list of failing tests. */
  #listing = false;
  #file: string | null = null;
  #listed: Listed | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return !this.#listing;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    const indent = line.length - text.length;
    if (this.#listing) return this.#list(text, indent);
    if (text === '✖ failing tests:' || text === 'Failed tests:') {
      this.#listing = true;
      return 'open';
    }
    if (summary.test(text)) return text.startsWith('ℹ duration_ms') ? 'close' : 'taken';
    if (text.startsWith('▶ ')) return this.#suite(text, indent);
    if (text.startsWith('test at ')) return this.#cutList(text);
    const test = text.includes('ms)') ? testLine.exec(text) : null;
    if (test === null) return 'pass';
    if (text.startsWith('✖ ') && !/^(?:TODO|SKIP)/.test(test[2] ?? '')) this.#failed(test[1] as string, indent, line);
    else this.#leave(indent);
    return 'adopt';
  }

  end(): void {
    this.#settle(null);
    for (const { path, line } of this.#inTree) this.#report.failing(this.#key(null, path, null), line);
  }

  /** Before Node 22 a suite's result begins like its heading, with a duration at the end. */
  #suite(text: string, indent: number): Answer {
    this.#leave(indent);
    if (/ \(\d[\d.]{0,24}ms\)$/.test(text)) return 'adopt';
    if (this.#suites.length < outputLimits.headings) this.#suites.push({ indent, name: text.slice(2), failed: false });
    return 'adopt';
  }

  #leave(indent: number): Suite | null {
    let left: Suite | null = null;
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) left = this.#suites.pop() ?? null;
    return left;
  }

  #failed(name: string, indent: number, line: string): void {
    const suite = this.#leave(indent);
    // A suite fails with its tests: it is an item of its own only where none of them did.
    if (suite?.name === name && suite.failed) return;
    for (const around of this.#suites) around.failed = true;
    const path = [...this.#suites.map((around) => around.name), name];
    if (this.#inTree.length < outputLimits.remembered) this.#inTree.push({ path, line, error: null });
  }

  /** The list's heading was cut off. */
  #cutList(text: string): Answer {
    if (!/:\d{1,9}:\d{1,9}$/.test(text)) return 'pass';
    this.#listing = true;
    this.#list(text, 0);
    return 'open';
  }

  #list(text: string, indent: number): Answer {
    if (this.#listed !== null && indent > 0) {
      this.#settle(text);
      return 'taken';
    }
    if (indent > 0 || text === '}') return 'taken';
    this.#settle(null);
    if (text.startsWith('test at ')) {
      this.#file = this.#report.paths.short(text.slice(8));
      return 'taken';
    }
    const test = testLine.exec(text);
    if (test === null) {
      this.#listing = false;
      return 'leave';
    }
    const file = this.#file;
    this.#file = null;
    if (text.startsWith('✖ ') && !/^(?:TODO|SKIP)/.test(test[2] ?? ''))
      this.#listed = { file, path: this.#inTreeAs(test[1] as string), line: text };
    return 'taken';
  }

  /** The path of the first failing test of that name in the tree. */
  #inTreeAs(name: string): readonly string[] {
    const at = this.#inTree.findIndex(({ path }) => path.at(-1) === name);
    return at === -1 ? [name] : (this.#inTree.splice(at, 1)[0]?.path ?? [name]);
  }

  /** `told`: the line below the listed test. */
  #settle(told: string | null): void {
    const listed = this.#listed;
    this.#listed = null;
    if (listed === null || (told !== null && /^'\d{1,9} subtests? failed'$/.test(told))) return;
    const error = told === null ? null : told.startsWith("'test timed out") ? 'timeout' : errorKind(told);
    this.#report.failing(this.#key(listed.file, listed.path, error), told ?? listed.line);
  }

  /** A file that could not be run is a test named by its path. */
  #key(file: string | null, path: readonly string[], error: string | null): string {
    const name = path.length === 1 ? this.#report.paths.short(path[0] as string) : null;
    return name !== null && name === file ? testKey({ file, path: [], error }) : testKey({ file, path, error });
  }
}

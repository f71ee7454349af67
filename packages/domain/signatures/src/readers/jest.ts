import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Jest's default and verbose reporters.
 *
 * `FAIL file` comes first; then `● suite › test` with the error below it. Before `●` nothing shows that Jest speaks, so
 * a `FAIL` line outside a session is remembered and passed on. The tree of the verbose reporter counts only for tests
 * whose details were cut off.
 */
export const jest: ToolReader = {
  tool: 'jest',
  opens: [
    '^PASS ',
    '^FAIL ',
    '^● ',
    '^Test Suites: ',
    '^Jest: ',
    '^Summary of all failing tests',
    '^Errors thrown in ',
  ],
  start: (report) => new JestReader(report),
};

const file =
  /^(?:PASS|FAIL) {1,2}(?:(\S{1,100}) {1,2})?(\S{1,1000}\.\w{1,10})(?: \(\d[\d.]{0,12} m?s(?:, \d{1,9} MB heap size)?\))?$/;
/** The reporter for GitHub Actions groups by file. */
const group = /^Errors thrown in (\S.{0,1000}\.\w{1,10})$/;
const inTree = /^[✕×] (.{1,2000}?)(?: \(\d[\d.]{0,12} m?s\))?$/;
/** As Jest 29 and as Jest 30 says it. */
const coverage = [
  /^Jest: "(?<which>.{1,400}?)" coverage threshold for (?<what>\w{1,40}) \(/,
  /^Jest: Coverage for (?<what>\w{1,40}) \(.{0,30}?\) does not meet "(?<which>.{1,400}?)" threshold/,
  /^Jest: Uncovered count for (?<what>\w{1,40}) .{0,60}? exceeds "?(?<which>.{1,400}?)"? threshold/,
];
const footer = /^(?:Test Suites|Tests|Snapshots|Time): {1,12}\S/;

interface Detail {
  readonly path: readonly string[];
  readonly line: string;
}

class JestReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;
  /** Where Jest runs several projects, the file's one. */
  #project: readonly string[] = [];
  /** The `●` whose error is to come. */
  #detail: Detail | null = null;
  #inDetail = false;
  #sure = false;
  readonly #told = new Set<string>();
  readonly #tree = new Map<string, string>();
  #suites: { readonly indent: number; readonly name: string }[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    const indent = line.length - text.length;
    const named = indent === 0 ? (file.exec(text) ?? group.exec(text)) : indent === 1 ? file.exec(text) : null;
    if (named !== null) return this.#result(named.at(-1) as string, named.length > 2 ? (named[1] ?? null) : null);
    if (text.startsWith('● ') && indent <= 2) return this.#heading(text.slice(2), line);
    if (this.#detail !== null) {
      this.#settle(text);
      return 'taken';
    }
    if (text.startsWith('Jest: ')) return this.#coverage(text);
    if (text.startsWith('Ran all test suites')) return this.#sure ? 'close' : 'pass';
    if (text === 'Summary of all failing tests' || (indent === 0 && footer.test(text))) return this.#footer(text);
    if (this.#inDetail) return indent > 0 ? 'taken' : 'pass';
    return this.#sure ? this.#inTree(text, indent) : 'pass';
  }

  end(): void {
    this.#settle(null);
    for (const [key, line] of this.#tree) if (!this.#told.has(key)) this.#report.failing(key, line);
  }

  #result(path: string, project: string | null): Answer {
    this.#project = project === null ? [] : [`|${project}|`];
    this.#settle(null);
    this.#inDetail = false;
    this.#suites = [];
    this.#file = this.#report.paths.short(path);
    return this.#sure ? 'open' : 'pass';
  }

  #heading(name: string, line: string): Answer {
    this.#settle(null);
    this.#inDetail = true;
    if (/^(?:Console|Deprecation Warning|Validation Warning)\b/.test(name)) return this.#began();
    // The runner's own troubles, and what other tools put a dot before.
    if (this.#file === null && !name.includes(' › ') && !/^(?:Validation Error|Test suite failed)/.test(name)) {
      this.#inDetail = false;
      return 'pass';
    }
    const ofFile = /^Test suite failed to run$/.test(name);
    this.#detail = { path: [...this.#project, ...(ofFile ? [] : name.replace(/:$/, '').split(' › '))], line };
    return this.#began();
  }

  #began(): Answer {
    this.#sure = true;
    return 'adopt';
  }

  #settle(told: string | null): void {
    const detail = this.#detail;
    this.#detail = null;
    if (detail === null) return;
    const item = { file: this.#file, path: detail.path };
    if (this.#told.size < outputLimits.remembered) this.#told.add(testKey(item));
    this.#report.failing(testKey({ ...item, error: told === null ? null : kindOf(told) }), told ?? detail.line);
  }

  #coverage(text: string): Answer {
    const found = coverage.map((pattern) => pattern.exec(text)?.groups).find((groups) => groups !== undefined);
    if (found === undefined) return 'pass';
    this.#report.failing(`coverage threshold: ${found.which} ${found.what}`, text);
    return 'taken';
  }

  #footer(text: string): Answer {
    this.#settle(null);
    this.#inDetail = false;
    this.#suites = [];
    if (text.startsWith('Test Suites:')) return this.#began();
    return this.#sure ? 'taken' : 'pass';
  }

  /** Suites are plain lines, tests have a mark, all are indented below the file's line. */
  #inTree(text: string, indent: number): Answer {
    if (indent === 0 || this.#file === null) return 'pass';
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) this.#suites.pop();
    if (/^[✓√○✎] /.test(text)) return 'taken';
    const failed = inTree.exec(text);
    if (failed === null) {
      if (indent % 2 === 0 && this.#suites.length < outputLimits.headings) this.#suites.push({ indent, name: text });
      return 'pass';
    }
    const path = [...this.#project, ...this.#suites.map((suite) => suite.name), failed[1] as string];
    if (this.#tree.size < outputLimits.remembered) this.#tree.set(testKey({ file: this.#file, path }), text);
    return 'taken';
  }
}

function kindOf(line: string): string | null {
  // The message of an `expect` has no class and may quote one.
  if (/^(?:Error: )?expect\(/.test(line)) return null;
  if (line.startsWith('thrown: "Exceeded timeout of ')) return 'timeout';
  if (line === 'Jest encountered an unexpected token') return 'SyntaxError';
  return /\berror (TS\d{3,5}): /.exec(line)?.[1] ?? errorKind(line);
}

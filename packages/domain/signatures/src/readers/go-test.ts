import { outputLimits } from '../limits.ts';
import { diagnosticText, Remembered } from './diagnostics.ts';
import { ruleKey, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** go test, plain and `-json`, gotestsum, and the errors of go build and go vet. */
export const goTest: ToolReader = {
  tool: 'go test',
  opens: [
    '--- FAIL: ',
    '--- PASS: ',
    '--- SKIP: ',
    '^=== RUN',
    '^=== PAUSE',
    '^=== CONT',
    '^=== NAME',
    '^=== FAIL: ',
    '^FAIL\t',
    '^ok  \t',
    '^panic: ',
    '^fatal error: ',
    '.go:',
    '"Action":"',
    '^# ',
    '^exit status ',
    '^✖  ',
    '^✓  ',
  ],
  passing: [
    ['=== RUN ', ''],
    ['--- PASS: ', 's)'],
  ],
  start: (report) => new GoReader(report),
};

const MOST_PACKAGES = 256;
const ended = /^(FAIL|ok {2})\t(\S{1,300})(?:\s(.{0,200}))?$/;
const result = /^\s{0,60}--- (FAIL|PASS|SKIP): (\S{1,400}) \(\d[\d.]{0,12}s\)$/;
const compiled = /^(?:vet: )?(\S[^:]{0,300}\.go):\d{1,7}:\d{1,7}: (.*)$/;
const frame = /^(\S{1,300})\.((?:Test|Fuzz|Benchmark|Example)[^\s(.]{0,200})(?:\.func[\d.]{1,20})?\(/;
const crash = /^(?:\t?)(panic|fatal error): (.*)$/;

/** What one package's tests say until it ends. */
class Package {
  readonly failing = new Remembered<string>(outputLimits.remembered);
  readonly crashed = new Set<string>();
  kind: string | null = null;
  exit: string | null = null;

  /** `true`: the line was go's. */
  take(line: string): boolean {
    const test = result.exec(line);
    if (test !== null) {
      if (test[1] === 'FAIL') this.failing.set(test[2] as string, line.trim());
      return true;
    }
    const crashes = crash.exec(line);
    if (crashes !== null) {
      this.kind ??= kindOf(crashes[1] as string, crashes[2] as string);
      return true;
    }
    const test2 = this.kind === null ? null : frame.exec(line);
    if (test2 !== null && this.crashed.size === 0) this.crashed.add(test2[2] as string);
    if (/^exit status \d{1,3}$/.test(line)) this.exit = line;
    return /^(?:=== (?:RUN|PAUSE|CONT|NAME) |goroutine \d|exit status \d|FAIL$|PASS$|coverage: )/.test(line);
  }

  report(name: string | null, report: Report): void {
    for (const test of this.crashed) if (!this.failing.has(test)) this.failing.set(test, `${this.kind}: ${test}`);
    const tests = [...this.failing];
    const parents = new Set(tests.map(([test]) => test.slice(0, Math.max(0, test.lastIndexOf('/')))));
    for (const [test, line] of tests) {
      // A test fails with its subtests: it is an item of its own only where none of them did.
      if (parents.has(test)) continue;
      const error = this.crashed.has(test) || (this.crashed.size === 0 && tests.length === 1) ? this.kind : null;
      report.failing(testKey({ file: name, path: [test], error }), line);
    }
    if (tests.length > 0 || name === null) return;
    const how = this.kind ?? this.exit;
    if (how !== null) report.failing(testKey({ path: [name], error: how }), how);
    else report.wrapping(testKey({ path: [name] }), name);
  }
}

function kindOf(what: string, message: string): string {
  if (message.startsWith('test timed out after ')) return 'timeout';
  if (/deadlock/.test(message)) return 'deadlock';
  return what;
}

class GoReader implements LineReader {
  readonly #report: Report;
  #plain = new Package();
  #said = false;
  #crashing = false;
  readonly #packages = new Remembered<Package>(MOST_PACKAGES);

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return !this.#crashing && this.#plain.kind === null;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    // Most lines of most runs.
    if (this.#said && !this.#crashing && (text.startsWith('=== RUN ') || text.startsWith('--- PASS: '))) return 'adopt';
    if (text.startsWith('{') && text.includes('"Action":"')) return this.#event(text);
    const end = ended.exec(line);
    if (end !== null) return this.#ended(end);
    const build = line.includes('.go:') ? compiled.exec(line) : null;
    if (build !== null && !/^\s/.test(line)) return this.#compiled(build);
    // gotestsum tells of packages so.
    if (/^(?:# \S{1,300}(?: \[\S{1,300}\])?|[✖✓] {2}\S{1,300}(?: \(.{1,20}\))?)$/.test(line)) return 'taken';
    const sum = /^=== FAIL: (\S{1,300}) (\S{1,300}) \(\d/.exec(text);
    if (sum !== null) {
      this.#report.failing(testKey({ file: sum[1] as string, path: [sum[2] as string] }), text);
      return 'taken';
    }
    if (this.#crashing) {
      this.#plain.take(line);
      return 'taken';
    }
    if (crash.test(line)) return this.#crash(line);
    if (!this.#plain.take(line)) return 'pass';
    if (text === 'FAIL' || text === 'PASS' || text.startsWith('exit status')) return this.#said ? 'taken' : 'pass';
    this.#said = true;
    return 'adopt';
  }

  end(): void {
    if (this.#said) this.#plain.report(null, this.#report);
    for (const [name, events] of this.#packages) events.report(name, this.#report);
  }

  #ended(end: RegExpExecArray): Answer {
    const name = end[2] as string;
    if (end[1] === 'FAIL') {
      if (/^\[(?:build|setup) failed\]/.test(end[3] ?? '')) this.#report.wrapping(testKey({ path: [name] }), end[0]);
      else this.#plain.report(name, this.#report);
    }
    this.#plain = new Package();
    this.#said = false;
    this.#crashing = false;
    return 'close';
  }

  /** A crash of a Go program that is no test has the same look: only a test's stack is adopted. */
  #crash(line: string): Answer {
    this.#plain.take(line);
    this.#said = true;
    this.#crashing = true;
    return 'adopt';
  }

  #compiled(found: RegExpExecArray): Answer {
    const rule = diagnosticText(found[2] as string);
    if (rule !== 'too many errors')
      this.#report.failing(ruleKey({ file: this.#report.paths.short(found[1] as string), rule }), found[0]);
    return 'taken';
  }

  #event(text: string): Answer {
    const event = eventOf(text);
    if (event === null) return 'pass';
    let own = this.#packages.get(event.name);
    if (own === undefined) {
      own = new Package();
      this.#packages.set(event.name, own);
    }
    if (event.output !== undefined) {
      const line = event.output.trimEnd();
      const build = compiled.exec(line);
      if (build !== null && event.action === 'build-output') this.#compiled(build);
      else own.take(line);
    }
    if (event.action === 'fail' && event.test !== undefined) own.failing.set(event.test, event.test);
    if (event.test !== undefined || (event.action !== 'fail' && event.action !== 'pass')) return 'open';
    if (event.action === 'fail') own.report(event.name, this.#report);
    this.#packages.delete(event.name);
    return 'open';
  }
}

interface TestEvent {
  readonly action: string;
  readonly name: string;
  readonly test?: string;
  readonly output?: string;
}

function eventOf(text: string): TestEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { Action, Package: name, ImportPath, Test, Output } = value as Record<string, unknown>;
  const of = typeof name === 'string' ? name : ImportPath;
  if (typeof Action !== 'string' || typeof of !== 'string') return null;
  return {
    action: Action,
    name: of,
    ...(typeof Test === 'string' ? { test: Test } : {}),
    ...(typeof Output === 'string' ? { output: Output } : {}),
  };
}

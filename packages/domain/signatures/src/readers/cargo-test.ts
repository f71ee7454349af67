import { outputLimits } from '../limits.ts';
import { Remembered } from './diagnostics.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * cargo test and nextest. Two targets of one crate may hold tests of one name, so the target is part of the key:
 * `lib > tests::totals`, `test cart > totals`. It stands before the tests (`Running tests/cart.rs`), and with `--quiet`
 * only after them (`to rerun pass '--test cart'`). The crate is part of it where several crates' own tests ran.
 */
export const cargoTest: ToolReader = {
  tool: 'cargo test',
  opens: [
    '^Running ',
    '^Doc-tests ',
    '^running ',
    '^test ',
    ' --- FAILED',
    '^test result: ',
    '^failures:',
    'to rerun pass ',
    '(signal: ',
    '^FAIL [',
    '^SIGABRT [',
    '^SIGSEGV [',
    '^TIMEOUT [',
    'targets failed:',
    'target failed:',
    '^`-',
  ],
  passing: [['test ', ' ... ok']],
  start: (report) => new CargoReader(report),
};

const running = /^Running (?:unittests )?(\S{1,300}) \((?:\S{0,300}\/)?([\w-]{1,200}?)(?:-[0-9a-f]{16})?(?:\.exe)?\)$/;
const rerun = /to rerun pass [`'](?:-p (\S{1,100}) )?(?:--(lib|doc)|--(test|bin|bench|example) (\S{1,100}))[`']$/;
const failed = /^(?:test )?(\S.{0,400}?)(?: - should panic)? (?:\.\.\.|---) FAILED(?:\s{1,3}<[\d.]{1,12}s>)?$/;
const unfinished = /^test (\S{1,400})(?: - should panic)? \.\.\.(?:$| (?!ok$|ignored|FAILED|bench))/;
const nextest =
  /^(?:TRY \d{1,2} )?(FAIL|SIGABRT|SIGSEGV|TIMEOUT) \[ {0,10}[\d.]{1,12}s\] (?:\( {0,6}\d{1,7}\/\d{1,7}\) )?(\S{1,200}) (\S{1,400})$/;

interface Target {
  readonly crate: string | null;
  readonly name: string;
}

class CargoReader implements LineReader {
  readonly #report: Report;
  #target: Target | null = null;
  /** Failing tests since the target began. */
  #tests = new Remembered<string>(outputLimits.remembered);
  #last: string | null = null;
  /** In the list of names at the end. */
  #listing = false;
  /** Between the first test and the result: tests print here. */
  #within = false;
  readonly #crates = new Set<string>();
  readonly #found: { target: Target | null; test: string | null; error: string | null; line: string }[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return this.#within && !this.#listing && this.#last === null;
  }

  take(line: string, text: string): Answer {
    // Most lines of most runs.
    if (text.endsWith(' ... ok') && text.startsWith('test ')) {
      this.#listing = false;
      this.#last = null;
      this.#within = true;
      return 'adopt';
    }
    const listed = this.#listing ? /^ {4}(\S.{0,400})$/.exec(line)?.[1] : undefined;
    this.#listing = line === 'failures:' || listed !== undefined;
    if (text === '') return 'pass';
    if (listed !== undefined) {
      this.#fails(listed.replace(/ - should panic$/, ''), text);
      return 'taken';
    }
    const begun = this.#begun(text);
    if (begun !== null) return begun;
    const test = failed.exec(text);
    if (test !== null) {
      this.#fails(test[1] as string, text);
      return 'adopt';
    }
    const open = unfinished.exec(text);
    if (open !== null) this.#last = open[1] as string;
    if (/^test \S.{0,400} \.\.\.(?: |$)/.test(text)) {
      if (/ \.\.\. (?:ok|ignored.{0,300})$/.test(text)) this.#last = null;
      this.#within = true;
      return 'adopt';
    }
    if (/^(?:ok|FAILED)$/.test(text) && this.#last !== null) {
      if (text === 'FAILED') this.#fails(this.#last, text);
      this.#last = null;
      return 'taken';
    }
    return this.#footer(text);
  }

  end(): void {
    this.#settle(this.#target);
    const several = this.#crates.size > 1;
    for (const { target, test, error, line } of this.#found) {
      const crate = several && target?.crate ? `${target.crate} ` : '';
      const file = target === null ? null : `${crate}${target.name}`;
      this.#report.failing(testKey({ file, path: test === null ? [] : [test], error }), line);
    }
  }

  #begun(text: string): Answer | null {
    const binary = running.exec(text);
    const docs = binary === null ? /^Doc-tests (\S{1,200})$/.exec(text)?.[1] : undefined;
    if (binary === null && docs === undefined) {
      if (!/^running \d{1,7} tests?$/.test(text)) return null;
      // With --quiet nothing else says that another target began.
      if (this.#tests.size > 0) this.#settle(this.#target);
      this.#last = null;
      this.#within = true;
      return 'open';
    }
    this.#settle(this.#target);
    this.#within = false;
    this.#target =
      binary === null ? { crate: docs as string, name: 'doc' } : targetOf(binary[1] as string, binary[2] as string);
    if (this.#target.crate !== null) this.#crates.add(this.#target.crate.replaceAll('-', '_'));
    return 'open';
  }

  #fails(name: string, line: string): void {
    // The place of a documentation's test is no part of its name.
    this.#tests.set(name.replace(/ \(line \d{1,7}\)$/, ''), line);
    this.#last = null;
  }

  #footer(text: string): Answer {
    const again = rerun.exec(text);
    if (again !== null) {
      this.#within = false;
      const said = again[2] ?? `${again[3]} ${again[4]}`;
      if (again[1] !== undefined) this.#crates.add(again[1].replaceAll('-', '_'));
      this.#settle(this.#target ?? { crate: again[1] ?? null, name: said });
      return 'taken';
    }
    const signal = /^process didn't exit successfully: .{0,2000}\(signal: \d{1,3}, (SIG[A-Z]{1,8})/.exec(text)?.[1];
    if (signal !== undefined) {
      this.#found.push({ target: this.#target, test: this.#last, error: signal, line: text.slice(0, 300) });
      return 'taken';
    }
    const next = nextest.exec(text);
    if (next !== null) {
      const error = next[1] === 'FAIL' ? null : (next[1] as string);
      this.#report.failing(testKey({ file: next[2] as string, path: [next[3] as string], error }), text);
      return 'taken';
    }
    if (/^error: \d{1,6} targets? failed:$/.test(text) || /^`-[^`]{1,200}`$/.test(text)) return 'taken';
    if (text.startsWith('test result: ')) {
      this.#within = false;
      return 'close';
    }
    // A test prints what it likes.
    if (this.#within && /^error(?:: |\[)/.test(text)) return 'taken';
    return text === 'failures:' || /^---- .{1,400} stdout ----$/.test(text) ? 'open' : 'pass';
  }

  #settle(target: Target | null): void {
    if (this.#tests.size === 0) return;
    for (const [test, line] of this.#tests)
      if (this.#found.length < outputLimits.remembered) this.#found.push({ target, test, error: null, line });
    this.#tests = new Remembered(outputLimits.remembered);
  }
}

/** `src/lib.rs` and `shop-50799923` are `lib` of shop, `tests/cart.rs` is `test cart`. */
function targetOf(path: string, binary: string): Target {
  if (/(?:^|[\\/])src[\\/]lib\.rs$/.test(path)) return { crate: binary, name: 'lib' };
  const kind = /(?:^|[\\/])(tests|benches|examples)[\\/]/.exec(path)?.[1];
  const name = kind === 'tests' ? 'test' : kind === 'benches' ? 'bench' : kind === 'examples' ? 'example' : 'bin';
  return { crate: null, name: `${name} ${binary}` };
}

/** How a test failed, out of the reason in pytest's summary. `null` where it was cut or tells none. */
export function errorOf(reason: string): string | null {
  if (/^assert(?: |$)/.test(reason)) return 'AssertionError';
  if (/\bTimeout \(?>/.test(reason)) return 'Timeout';
  return /^(?:[A-Za-z_]\w{0,80}\.){0,10}([A-Za-z_]\w{0,80})(?::|$)/.exec(reason)?.[1] ?? null;
}

/** `tests/test_cart.py:12: ZeroDivisionError`, `tests/test_cart.py:12: in test_x`, `tests/test_cart.py:12: `. */
const place = /^(\S.{0,400}?\.py):\d{1,7}:(?: (in )?(\S.{0,80})?)?$/;
const nativeFrame = /^File "(.{1,400})", line \d{1,7}, in /;

/** The part of pytest's report about one test, between two headings. */
export class PytestSection {
  readonly name: string;
  readonly setUp: boolean;
  readonly collecting: boolean;
  file: string | null = null;
  error: string | null = null;
  ofSubtests = false;
  /** The line before was no line of an error: the next one begins one. */
  #fresh = true;
  #captured = false;
  #native = false;

  constructor(title: string) {
    const found = /^ERROR (collecting|at setup of|at teardown of) (.*)$/.exec(title);
    this.name = found?.[2] ?? title;
    this.collecting = found?.[1] === 'collecting';
    this.setUp = found !== null;
  }

  /** `TestItem.test_x[a.b]` is TestItem, test_x[a.b]; `test_each [row] (i=2)` has its subtest apart. */
  names(): string[] {
    const cut = this.name.search(/ [[(]|\[/);
    const plain = cut === -1 ? this.name : this.name.slice(0, cut);
    const rest = cut === -1 ? '' : this.name.slice(cut);
    const names = plain.split('.');
    if (rest.startsWith(' ')) names.push(rest.slice(1));
    else names[names.length - 1] += rest;
    return names;
  }

  get subtest(): boolean {
    return / [[(]/.test(this.name) && !this.setUp;
  }

  take(line: string, text: string): void {
    if (/^-{3,100} Captured /.test(line)) this.#captured = true;
    if (this.#captured) return;
    if (/^contains \d{1,6} failed subtests?$/.test(line)) this.ofSubtests = true;
    this.#places(line, text);
    if (!line.startsWith('E  ')) {
      this.#fresh = true;
      this.#nativeError(line, text);
      return;
    }
    const error = this.#fresh ? errorOf(line.slice(1).trimStart()) : null;
    if (error === null) return;
    this.error = error;
    this.#fresh = false;
  }

  #places(line: string, text: string): void {
    const found = place.exec(line);
    const native = found === null ? nativeFrame.exec(text)?.[1] : undefined;
    const file = found?.[1] ?? native;
    if (file !== undefined && (this.file === null || !isTestFile(this.file))) this.file = file;
    if (native !== undefined) this.#native = true;
    const error = found !== null && found[2] === undefined ? found[3] : undefined;
    if (error !== undefined && error !== 'Failed' && /^[A-Za-z_]\w*$/.test(error)) this.error = error;
  }

  #nativeError(line: string, text: string): void {
    if (!this.#native || line !== text) return;
    const error = errorOf(line);
    if (error !== null && /^[A-Z]/.test(error) && error !== 'Traceback') this.error = error;
  }
}

const isTestFile = (path: string): boolean => /(?:^|[\\/])(?:test_[^\\/]*|[^\\/]*_test)\.py$/.test(path);

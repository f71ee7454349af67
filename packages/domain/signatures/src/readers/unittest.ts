import { outputLimits } from '../limits.ts';
import { Remembered } from './diagnostics.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** Python's unittest: a ruler, `FAIL: test_total (tests.test_cart.CartTest.test_total)`, and the traceback below it. */
export const unittest: ToolReader = {
  tool: 'unittest',
  opens: ['^======', ' ... FAIL', ' ... ERROR', '^FAILED (', '^Ran ', ' ... Fatal Python error'],
  start: (report) => new UnittestReader(report),
};

const ruler = /^={70}$/;
const heading = /^(FAIL|ERROR|UNEXPECTED SUCCESS): (\S{1,300}) \(([\w.<>]{1,300})\)(?: (.{1,300}))?$/;
const verbose =
  /^(\S{1,300}) \(([\w.<>]{1,300})\)(?: ((?:\[|\().{1,300}))? \.\.\. (FAIL|ERROR|Fatal Python error: .{1,60})$/;
const raised = /^((?:[A-Za-z_]\w{0,80}\.){0,10})([A-Za-z_]\w{0,80})(?::|$)/;

class UnittestReader implements LineReader {
  readonly #report: Report;
  #expecting = false;
  #item: { path: string[]; line: string; error: string | null } | null = null;
  /** The line before was code or a frame: an error may follow. */
  #indented = false;
  /** Failing tests of the verbose list that no traceback named yet. */
  readonly #listed = new Remembered<{ path: string[]; line: string; error: string | null }>(outputLimits.remembered);

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#expecting || this.#item !== null) {
      const answer = this.#detail(line, text);
      if (answer !== null) return answer;
    }
    if (ruler.test(line)) {
      this.#expecting = true;
      return 'adopt';
    }
    const test = verbose.exec(text);
    if (test !== null) {
      const path = pathOf(test[1] as string, test[2] as string, test[3]);
      const crash = (test[4] as string).startsWith('Fatal') ? (test[4] as string).slice(20) : null;
      this.#listed.set(path.join(' '), { path, line: text, error: crash });
      return 'adopt';
    }
    return this.#footer(line);
  }

  end(): void {
    this.#settle();
    for (const [, item] of this.#listed) this.#report.failing(testKey(item), item.line);
  }

  #footer(line: string): Answer {
    if (/^Ran \d{1,9} tests? in [\d.]{1,20}s$/.test(line)) {
      this.#settle();
      return 'adopt';
    }
    return /^FAILED \((?:failures|errors|skipped|expected|unexpected)/.test(line) ? 'close' : 'pass';
  }

  #detail(line: string, text: string): Answer | null {
    if (ruler.test(line)) {
      this.#settle();
      this.#expecting = true;
      return 'open';
    }
    const found = this.#expecting ? heading.exec(line) : null;
    if (found !== null) {
      this.#expecting = false;
      const error = found[1] === 'UNEXPECTED SUCCESS' ? 'unexpected success' : null;
      this.#item = { path: pathOf(found[2] as string, found[3] as string, found[4]), line, error };
      return 'open';
    }
    this.#expecting = false;
    if (this.#item === null || /^Ran \d{1,9} tests? in /.test(line)) return null;
    if (text === '') this.#indented = false;
    else if (line !== text) this.#indented = true;
    else {
      const error = this.#indented ? raised.exec(line) : null;
      if (error !== null) this.#item.error = error[2] as string;
      this.#indented = false;
    }
    return 'taken';
  }

  #settle(): void {
    const item = this.#item;
    this.#item = null;
    this.#indented = false;
    if (item === null) return;
    this.#listed.delete(item.path.join(' '));
    this.#report.failing(testKey(item), item.line);
  }
}

/** Before Python 3.11 the brackets hold the class without the test. */
function pathOf(name: string, within: string, subtest: string | undefined): string[] {
  if (within.startsWith('unittest.loader._FailedTest')) return [name];
  const whole = within.endsWith(`.${name}`) ? within : `${within}.${name}`;
  return subtest !== undefined && /^[[(]/.test(subtest) ? [whole, subtest] : [whole];
}

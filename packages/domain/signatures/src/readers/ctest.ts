import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** ctest: ` 1/13 Test  #1: cart_total .....***Failed  0.00 sec`, and the list below: `1 - cart_total (Failed)`. */
export const ctest: ToolReader = {
  tool: 'ctest',
  opens: [
    'Test #',
    'Test  #',
    'Test   #',
    '^Test project ',
    'The following tests FAILED:',
    'tests failed out of',
    '^Errors while running CTest',
    '^Start ',
    '^Use "--rerun-failed',
    '^Output from these tests',
  ],
  start: (report) => new CtestReader(report),
};

const result = /^\d{1,6}\/\d{1,6} Test {1,6}#\d{1,6}: (\S.{0,400}?) \.{1,200} {0,40}(\S.{0,200})$/;
const listed = /^\d{1,6} - (\S.{0,400}) \(([^()]{1,80})\)$/;

class CtestReader implements LineReader {
  readonly #report: Report;
  #listing: 'failed' | 'other' | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    if (/^The following tests (?:FAILED|did not run)/.test(text)) {
      this.#listing = text.startsWith('The following tests FAILED') ? 'failed' : 'other';
      return 'open';
    }
    if (this.#listing !== null) return this.#list(text);
    const test = result.exec(text);
    if (test !== null) {
      const status = test[2] as string;
      if (status.includes('***')) this.#fails(test[1] as string, status, text);
      return 'adopt';
    }
    if (text.startsWith('Test project /') || /^Start {1,6}\d{1,6}: /.test(text)) return 'open';
    if (/^(?:Use "--rerun-failed|Output from these tests are in)/.test(text)) return 'taken';
    if (/^\d{1,3}% tests passed, /.test(text)) return 'taken';
    // Lines of the tests, as `-V` shows them.
    return /^\d{1,6}: /.test(line) ? 'taken' : 'pass';
  }

  #list(text: string): Answer {
    const found = listed.exec(text);
    if (found !== null) {
      if (this.#listing === 'failed') this.#fails(found[1] as string, found[2] as string, text);
      return 'taken';
    }
    this.#listing = null;
    return text.startsWith('Errors while running CTest') ? 'close' : 'leave';
  }

  #fails(name: string, status: string, line: string): void {
    if (/Skipped|Disabled/.test(status)) return;
    const error = /Timeout/.test(status) ? 'timeout' : /Not Run/.test(status) ? 'not run' : crashOf(status);
    this.#report.failing(testKey({ path: [name], error }), line);
  }
}

/** `***Exception: SegFault` and `(SEGFAULT)` are one. */
function crashOf(status: string): string | null {
  if (/segfault/i.test(status)) return 'segmentation fault';
  if (/abort/i.test(status)) return 'aborted';
  const kind = /(?:Exception: {0,4}|^)(Illegal|Interrupt|Numerical|Other|ILLEGAL|INTERRUPT|NUMERICAL|OTHER_FAULT)/.exec(
    status,
  )?.[1];
  return kind === undefined ? null : kind.toLowerCase().replace('_fault', '');
}

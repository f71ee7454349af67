import { outputLimits } from '../limits.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** GoogleTest: `[  FAILED  ] Cart.Total (0 ms)`. A parameter's value stands behind the name and is no part of it. */
export const googletest: ToolReader = {
  tool: 'googletest',
  opens: [
    '^[  FAILED  ]',
    '^[ RUN      ]',
    '^[       OK ]',
    '^[==========]',
    '^[----------]',
    '^[  PASSED  ]',
    '^[  SKIPPED ]',
    '^Running main() from',
    'FAILED TEST',
  ],
  start: (report) => new GoogletestReader(report),
};

const failed = /^\[ {2}FAILED {2}\] ([\w/]{1,300}\.[\w/]{1,300})(?:, where .{0,500}?)?(?: \(\d{1,12} ms\))?$/;
const suite = /^\[ {2}FAILED {2}\] ([\w/]{1,300}): SetUpTestSuite or TearDownTestSuite$/;
const mark = /^\[(?: RUN {6}| {7}OK |={10}|-{10}| {2}PASSED {2}| {2}SKIPPED | {2}FAILED {2}| DISABLED )\]/;

class GoogletestReader implements LineReader {
  readonly #report: Report;
  #running: string | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(_line: string, text: string): Answer {
    if (/^\d{1,6} FAILED TESTS?$/.test(text)) return 'close';
    if (/^\d{1,6} FAILED TEST SUITES?$/.test(text)) return 'taken';
    if (text.startsWith('Running main() from ')) return 'open';
    if (!mark.test(text)) return 'pass';
    const run = /^\[ RUN {6}\] (\S.*)$/.exec(text)?.[1];
    if (run !== undefined) this.#running = run.slice(0, outputLimits.keyChars);
    const test = failed.exec(text)?.[1];
    if (test !== undefined) this.#report.failing(testKey({ path: [test] }), text);
    const whole = suite.exec(text)?.[1];
    if (whole !== undefined)
      this.#report.failing(testKey({ path: [whole], error: 'SetUpTestSuite or TearDownTestSuite' }), text);
    if (run === undefined) this.#running = null;
    return text.startsWith('[  PASSED  ]') ? 'taken' : 'adopt';
  }

  end(): void {
    // The test that ran last never came to its end.
    if (this.#running !== null) this.#report.failing(testKey({ path: [this.#running], error: 'crash' }), this.#running);
  }
}

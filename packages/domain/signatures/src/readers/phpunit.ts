import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** PHPUnit: `There were 3 errors:` and `1) Shop\CartTest::testDivides`, or the list of `--testdox`. */
export const phpunit: ToolReader = {
  tool: 'phpunit',
  opens: [
    '^PHPUnit ',
    '^There was ',
    '^There were ',
    '::',
    '^✘ ',
    '^✔ ',
    '^Tests: ',
    '^PHP Fatal error: ',
    '^PHP Parse error: ',
    '^Cannot open file "',
    '^OK, but',
    '^Next PHPUnit',
  ],
  start: (report) => new PhpunitReader(report),
};

const heading = /^There (?:was|were) \d{1,6} (?:PHPUnit (?:test runner )?)?(failure|error)s?:$/;
const others = /^There (?:was|were) \d{1,6} [\w ]{1,40}:$/;
const numbered = /^\d{1,6}\) ([\w\\]{1,300}(?:::\w{1,300})?(?: with data set .{1,600})?)$/;
const shown = /^([A-Z].{0,200}?) \(([\w\\]{1,300})\)$/;
const raised = /^(?:[A-Za-z_]\w{0,80}\\){0,10}([A-Za-z_]\w{0,100}): /;

class PhpunitReader implements LineReader {
  readonly #report: Report;
  #failing = false;
  #own = false;
  #test: { name: string; line: string } | null = null;
  /** The class of the tests below, as `--testdox` names it. */
  #class: string | null = null;
  #boxed = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    if (this.#test !== null) return this.#reason(text);
    // Other tools' passing tests begin so too.
    if (this.#class === null && text.startsWith('✔')) return 'pass';
    if (heading.test(line) || others.test(line)) {
      this.#failing = heading.test(line);
      return 'open';
    }
    const test = numbered.exec(line);
    if (test !== null && (this.#failing || this.#own)) {
      if (!this.#failing) return 'taken';
      this.#test = { name: nameOf(test[1] as string), line };
      return 'hold';
    }
    if (/^PHPUnit \d/.test(line)) {
      this.#own = true;
      return 'open';
    }
    return this.#testdox(line, text) ?? this.#footer(line);
  }

  end(): void {
    this.#settle(null);
  }

  #reason(text: string): Answer {
    if (/^│?$/.test(text)) return 'hold';
    this.#settle(raised.exec(text.replace(/^│ {0,4}/, ''))?.[1] ?? null);
    return 'taken';
  }

  #settle(error: string | null): void {
    const test = this.#test;
    this.#test = null;
    if (test !== null) this.#report.failing(testKey({ path: [test.name], error }), test.line);
  }

  #testdox(line: string, text: string): Answer | null {
    const within = shown.exec(line)?.[2];
    if (within !== undefined && this.#own) {
      const names = within.split('\\');
      this.#class = (names.at(-1) ?? '').endsWith('Test') ? within : `${within}Test`;
      return 'taken';
    }
    const box = this.#class === null ? null : /^ {1,3}([✘✔↩∅☢⚠]) (\S.{0,600})$/.exec(line);
    if (box === null) return this.#boxed && text.startsWith('│') ? 'taken' : null;
    this.#boxed = true;
    if (box[1] !== '✘') return 'taken';
    this.#test = { name: `${this.#class}::${methodOf(box[2] as string)}`, line: text };
    return 'hold';
  }

  #footer(line: string): Answer {
    if (/^Tests: \d{1,9}, Assertions: /.test(line)) {
      this.#failing = false;
      return 'close';
    }
    const missing = /^Cannot open file "(.{1,400})"\.$/.exec(line)?.[1];
    if (missing !== undefined && this.#own) {
      this.#report.failing(testKey({ path: [this.#report.paths.short(missing)], error: 'not found' }), line);
      return 'close';
    }
    const fatal =
      /^PHP (?:Fatal|Parse) error: {1,4}(?:Uncaught )?(.{1,600}) in (\S.{0,400}?\.php)(?::| on line )\d{1,7}$/.exec(
        line,
      );
    if (fatal === null) return line.startsWith('Next PHPUnit') ? 'taken' : 'pass';
    const error = raised.exec(fatal[1] as string)?.[1] ?? 'Fatal error';
    this.#report.failing(testKey({ path: [this.#report.paths.short(fatal[2] as string)], error }), line);
    return 'taken';
  }
}

/** What a data set holds are values; its name or number says which it is. */
const nameOf = (id: string): string => id.replace(/( with data set (?:#\d{1,6}|".{1,300}")) \(.{0,600}\)$/, '$1');

/** `Error is printed` is testErrorIsPrinted. */
function methodOf(sentence: string): string {
  const cut = sentence.indexOf(' with data set ');
  const words = (cut === -1 ? sentence : sentence.slice(0, cut)).replace(/ {1,4}\[[\d.]{1,12} ms\]$/, '').split(' ');
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return `test${name}${cut === -1 ? '' : nameOf(sentence.slice(cut))}`;
}

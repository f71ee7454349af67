import { outputLimits } from '../limits.ts';
import { lintKey } from './lint-rows.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Oxlint's default and unix formats:
 *
 *     × eslint(no-undef): 'price1' is not defined.
 *      ╭─[src/cart.js:3:24]
 *
 * (`x`, `,-[` where there is no Unicode). Its stylish format is read as ESLint's.
 */
export const oxlint: ToolReader = {
  tool: 'oxlint',
  opens: [
    '^x ',
    '^× ',
    '^! ',
    '^⚠ ',
    ',-[',
    '╭─[',
    '[Error/',
    '[Warning/',
    '[Error]',
    '^Found ',
    '^Finished in ',
    '^Exceeded maximum number of warnings',
  ],
  start: (report) => new OxlintReader(report),
};

const heading = /^([x×!⚠]) (\S.{0,4000})$/;
const named = /^(@?[\w/-]{1,100}\([\w@/-]{1,150}\)): (.{0,4000})$/;
const place = /^(?:,-|╭─)\[(.{1,1000}?)(?::\d{1,9}){0,2}\]$/;
const frame = /^(?:\d{1,9} [|│]|[:·|│]|`-|╰─|,-|╭─|help: |note: )/;
const unix =
  /^(\S.{0,1000}?):\d{1,9}:\d{1,9}: (.{0,4000}) \[(Error|Warning)(?:\/(@?[\w/-]{1,100}\([\w@/-]{1,150}\)))?\]$/;
const footer = /^(?:Found \d{1,9} warnings? and \d{1,9} errors?\.|Finished in \d.{0,200} on \d{1,9} files?.{0,200})$/;
const ofPackageManager = /^(?:npm |\[?ELIFECYCLE|error Command failed|info Visit |Error: Process completed)/;
const MOST_MESSAGE_LINES = 8;

interface Diagnostic {
  readonly isError: boolean;
  readonly rule: string;
  readonly message: string;
}

class OxlintReader implements LineReader {
  readonly #report: Report;
  #diagnostic: Diagnostic | null = null;
  #messageLines = 0;
  #inFrame = false;
  readonly #warnings = new Map<string, string>();
  #errors = 0;
  /** The closing line was said and nothing but what a package manager says of it. */
  #isOver = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#isOver && text !== '' && !ofPackageManager.test(text)) this.#isOver = false;
    const placed = place.exec(text)?.[1];
    if (placed !== undefined) return this.#placed(placed);
    if (text === '' && (this.#inFrame || this.#diagnostic !== null)) return 'hold';
    if (this.#inFrame && frame.test(text)) return 'hold';
    this.#inFrame = false;
    if (line.startsWith('  ') && !line.startsWith('   ')) {
      const head = heading.exec(text);
      if (head !== null) return this.#heading(head[1] as string, head[2] as string);
    }
    if (this.#diagnostic !== null && text !== '' && line !== text) return this.#goesOn();
    this.#settle(null);
    return this.#oneLine(line, text);
  }

  /** With `--deny-warnings` only the exit code says that warnings count: an output that ends there failed for them. */
  end(): void {
    this.#settle(null);
    if (this.#isOver && this.#errors === 0) this.#warningsCount();
  }

  #heading(mark: string, said: string): Answer {
    this.#settle(null);
    const found = named.exec(said);
    const isError = mark === 'x' || mark === '×';
    this.#diagnostic = { isError, rule: found?.[1] ?? '', message: found?.[2] ?? said };
    this.#messageLines = 0;
    return 'hold';
  }

  #goesOn(): Answer {
    this.#messageLines += 1;
    if (this.#messageLines <= MOST_MESSAGE_LINES) return 'hold';
    this.#diagnostic = null;
    return 'pass';
  }

  #placed(file: string): Answer {
    this.#settle(file);
    this.#inFrame = true;
    return 'hold';
  }

  /** Other tools use the same marks: without a place only a rule's name shows that it was Oxlint. */
  #settle(file: string | null): void {
    const diagnostic = this.#diagnostic;
    this.#diagnostic = null;
    if (diagnostic === null || (file === null && diagnostic.rule === '')) return;
    this.#found(diagnostic.isError, file, diagnostic.rule, diagnostic.message);
  }

  #found(isError: boolean, file: string | null, rule: string, message: string): void {
    const key = lintKey(this.#report.paths, file, { rule: rule === '' ? 'parse' : rule, message });
    if (isError) {
      this.#errors += 1;
      this.#report.failing(key, message);
    }
    if (!isError && this.#warnings.size < outputLimits.remembered) this.#warnings.set(key, message);
  }

  #oneLine(line: string, text: string): Answer {
    const inUnix = unix.exec(line);
    if (inUnix !== null && (inUnix[4] !== undefined || text.endsWith('[Error]'))) {
      this.#found(inUnix[3] === 'Error', inUnix[1] as string, inUnix[4] ?? '', inUnix[2] as string);
      return 'taken';
    }
    if (text.startsWith('Exceeded maximum number of warnings')) {
      this.#warningsCount();
      return 'taken';
    }
    if (this.#isOver && text === '') return 'hold';
    if (!footer.test(text)) return 'pass';
    this.#isOver = text.startsWith('Finished in ');
    return this.#isOver ? 'hold' : 'taken';
  }

  #warningsCount(): void {
    for (const [key, message] of this.#warnings) this.#report.failing(key, message);
  }
}

import { outputLimits } from '../limits.ts';
import { diagnosticText, Remembered } from './diagnostics.ts';
import { ruleKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** javac, alone and as Maven and Gradle show it; kotlinc's lines too. */
export const javac: ToolReader = {
  tool: 'javac',
  opens: ['.java:', 'warnings found and -Werror', '^e: ', '^error: file not found'],
  start: (report) => new JavacReader(report),
};

const plain = /^(?:\[(?:ERROR|javac)\] )?(\S.{0,400}\.java):\d{1,7}: (error|warning): (.*)$/;
const inMaven = /^\[(ERROR|WARNING)\] (\S.{0,400}\.java):\[\d{1,7},\d{1,7}\] (?:error: )?(.*)$/;
const detail = /^(?:\[(?:ERROR|javac)\] )?\s{1,8}(symbol|location|required|found|reason): {1,6}(.*)$/;
const kotlin = /^e: (?:file:\/\/)?(\S.{0,400}\.kts?):[ (]{0,2}\d{1,7}[:,] ?\d{1,7}\)?:? (?:error: )?(.*)$/;
const MOST_LINES = 8;

class JavacReader implements LineReader {
  readonly #report: Report;
  #open: { file: string; message: string; line: string; warning: boolean; lines: number } | null = null;
  readonly #warnings = new Remembered<string>(outputLimits.keys);
  #strict = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const javac = plain.exec(line);
    if (javac !== null) return this.#begin(javac[1] as string, javac[3] as string, line, javac[2] === 'warning');
    const maven = inMaven.exec(line);
    if (maven !== null) return this.#begin(maven[2] as string, maven[3] as string, line, maven[1] === 'WARNING');
    const kotlinc = kotlin.exec(line);
    if (kotlinc !== null) return this.#begin(kotlinc[1] as string, kotlinc[2] as string, line, false);
    if (line.includes('warnings found and -Werror')) {
      this.#settle(null);
      this.#strict = true;
      return 'taken';
    }
    if (line.startsWith('error: file not found: ')) {
      this.#report.failing(ruleKey({ file: this.#report.paths.short(line.slice(23)), rule: 'file not found' }), line);
      return 'taken';
    }
    return this.#below(line, text);
  }

  end(): void {
    this.#settle(null);
    if (this.#strict) for (const [key, line] of this.#warnings) this.#report.failing(key, line);
    if (this.#strict && this.#warnings.size === 0) this.#report.failing('warnings found and -Werror', '-Werror');
  }

  #begin(path: string, message: string, line: string, warning: boolean): Answer {
    this.#settle(null);
    // Gradle's plain console leaves the task's name before the first of them.
    const plainPath = path.replace(/^(?:> Task )?:[\w:-]{1,100}(?=[\\/])/, '');
    this.#open = { file: this.#report.paths.short(plainPath), message, line, warning, lines: 0 };
    return 'hold';
  }

  /** The code, a mark, and for a missing symbol what it is. */
  #below(line: string, text: string): Answer {
    const open = this.#open;
    if (open === null) return 'pass';
    const said = detail.exec(line);
    if (said !== null) {
      if (said[1] === 'symbol') this.#settle(said[2] as string);
      return 'hold';
    }
    open.lines += 1;
    const own = open.lines === 1 || text === '^' || (line !== text && !/^\[(?:INFO|ERROR|WARNING)\]/.test(text));
    if (text !== '' && open.lines <= MOST_LINES && own && !/^\[(?:INFO|ERROR|WARNING)\]/.test(text)) return 'hold';
    this.#settle(null);
    return 'pass';
  }

  #settle(symbol: string | null): void {
    const open = this.#open;
    if (symbol === null) this.#open = null;
    if (open === null || open.message === '') return;
    const text = diagnosticText(open.message);
    const key = ruleKey({ file: open.file, rule: text, symbol: symbol === null ? null : diagnosticText(symbol) });
    if (open.warning) this.#warnings.set(key, open.line);
    else this.#report.failing(key, open.line);
    // What stands below the symbol still belongs to it, but has been said.
    open.message = '';
  }
}

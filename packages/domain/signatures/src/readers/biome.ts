import { outputLimits } from '../limits.ts';
import { ruleKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Biome's own report:
 *
 *     src/cart.js:3:24 lint/correctness/noUndeclaredVariables ━━━━━━━━━━━━
 *
 *       × The price1 variable is undeclared.
 *
 *       > 3 │   return list.length + price1;
 *           │                        ^^^^^^
 *
 * Its messages quote nothing: the symbol is the marked word of the code, where one word is marked.
 */
export const biome: ToolReader = {
  tool: 'biome',
  opens: [' ━━━', '^Checked ', '^Found ', '^Skipped '],
  start: (report) => new BiomeReader(report),
};

const flags = /(?: {1,3}(?:FIXABLE|DEPRECATED|VERBOSE|INTERNAL|CRITICAL))+$/;
const place = /^(\S.{0,1000}?)(?::\d{1,9}:\d{1,9})? ([\w/]{1,200})$/;
const severity = /^([×✖✕x!⚠iℹ]) (.{0,2000})$/;
const markedLine = /^> \d{1,9} │ (.{0,4000})$/;
const marks = /^│ (\s{0,4000})(\^{1,4000})$/;
const footer =
  /^(?:Checked \d{1,9} files? in |Formatted \d|Found \d{1,9} (?:errors?|warnings?|infos?)\.$|Skipped \d{1,9} )/;
/** What stands where a name could: the same rule then has no symbol, whatever reporter tells of it. */
const keywords =
  /^(?:any|var|let|const|class|function|debugger|this|new|delete|void|null|true|false|if|else|for|while|return|import|export|default|async|await|console|in|of)$/;

const inMessage = /^(?:The (\S{1,120}) variable is undeclared|This (?:[a-z]{1,20} ){1,3}(\S{1,120}) is unused)/;

/** The symbol of a message where no code stands below it: Biome names a few in its words. */
export function symbolInWords(message: string): string | null {
  const found = inMessage.exec(message);
  return found?.[1] ?? found?.[2] ?? null;
}

interface Diagnostic {
  isError: boolean;
  readonly file: string;
  readonly rule: string;
  message: string | null;
  code: string | null;
}

class BiomeReader implements LineReader {
  readonly #report: Report;
  /** `null` in the report of the whole run, which names no file. */
  #diagnostic: Diagnostic | null = null;
  #inReport = false;
  /** Warnings fail a run only where it says so. */
  readonly #warnings = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const rule = text.indexOf(' ━━━');
    if (rule !== -1 && line === text && /^ ━{3,300}$/.test(text.slice(rule))) return this.#heading(text.slice(0, rule));
    if (line === text && text !== '') {
      this.#settle(null);
      this.#inReport = false;
      return footer.test(text) ? 'taken' : 'pass';
    }
    if (!this.#inReport) return 'pass';
    if (this.#diagnostic !== null) this.#below(this.#diagnostic, text);
    else if (text === '× Some warnings were emitted while running checks.') this.#warningsCount();
    return 'hold';
  }

  end(): void {
    this.#settle(null);
  }

  #heading(said: string): Answer {
    this.#settle(null);
    this.#inReport = true;
    const found = place.exec(said.trimEnd().replace(flags, ''));
    if (found !== null) {
      const [, file = '', rule = ''] = found;
      this.#diagnostic = { isError: true, file, rule, message: null, code: null };
    }
    return 'hold';
  }

  #below(diagnostic: Diagnostic, text: string): void {
    if (diagnostic.message === null) {
      const found = severity.exec(text);
      if (found === null) return;
      const [, mark = '', message = ''] = found;
      if (mark === 'i' || mark === 'ℹ') this.#diagnostic = null;
      diagnostic.isError = mark !== '!' && mark !== '⚠';
      diagnostic.message = message;
      return;
    }
    const code = markedLine.exec(text)?.[1];
    if (code !== undefined) {
      diagnostic.code = code;
      return;
    }
    const marked = marks.exec(text);
    if (marked === null || diagnostic.code === null) return;
    const from = (marked[1] as string).length;
    this.#settle(diagnostic.code.slice(from, from + (marked[2] as string).length));
  }

  #settle(marked: string | null): void {
    const diagnostic = this.#diagnostic;
    this.#diagnostic = null;
    if (diagnostic === null || diagnostic.message === null) return;
    const symbol = marked !== null && /^[\w$]{1,120}$/.test(marked) && !keywords.test(marked) ? marked : null;
    const { file, rule, message, isError } = diagnostic;
    const key = ruleKey({ file: this.#report.paths.short(file), rule, symbol });
    if (isError) this.#report.failing(key, message);
    else if (this.#warnings.size < outputLimits.remembered) this.#warnings.set(key, message);
  }

  #warningsCount(): void {
    for (const [key, message] of this.#warnings) this.#report.failing(key, message);
  }
}

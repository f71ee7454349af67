import { diagnosticText } from './diagnostics.ts';
import { ruleKey, symbolsIn } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Tools that put a build together and tell the file apart from what is wrong in it: webpack and Next.js above it, esbuild
 * (with it Vite) and Terraform below.
 *
 *     ERROR in ./src/cart.ts 12:5-10              ✘ [ERROR] Could not resolve "./gone"
 *     TS2304: Cannot find name 'total'.
 *                                                     src/main.ts:1:17:
 */
export const bundlers: ToolReader = {
  tool: 'bundler',
  opens: ['ERROR in ', '^./', '^✘ [ERROR] ', '^X [ERROR] ', '^│ Error: ', '^Failed to compile', ' compiled with '],
  start: (report) => new BundlersReader(report),
};

const above =
  /^(?:\[\w{1,20}\] )?ERROR in (\S.{0,600}?\.\w{1,10})(?: \d{1,9}:\d{1,9}(?:-\d{1,9}(?::\d{1,9})?)?|\(\d{1,9},\d{1,9}\)|:\d{1,9}:\d{1,9})?$/;
const inNext = /^(\.\/\S{1,600}\.\w{1,10})(?::\d{1,9}:\d{1,9})?$/;
const heading = /^(?:[✘X] \[ERROR\]|│ Error:) (\S.{0,2000}?)(?: \[plugin [\w-]{1,60}\])?$/;
const below =
  /^(?:│ {1,3})?(?:(\S.{0,600}?\.\w{1,10}):\d{1,9}:\d{1,9}:|on (\S{1,600}) line \d{1,9}(?:, in (.{1,300}?))?:)$/;
const footer = /^(?:Failed to compile\.?|webpack \S{1,40} compiled with \d.{0,80})$/;
/** Lines between a heading and its place. */
const MOST_BETWEEN = 4;

class BundlersReader implements LineReader {
  readonly #report: Report;
  /** Told of above: what is wrong comes next. */
  #file: string | null = null;
  /** What is wrong: the file comes below. */
  #told: { readonly said: string; readonly line: string; lines: number } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(_line: string, text: string): Answer {
    if (this.#file !== null) return this.#below(this.#file, text);
    if (this.#told !== null) {
      const answer = this.#place(this.#told, text);
      if (answer !== null) return answer;
    }
    if (footer.test(text)) return 'taken';
    const file = (above.exec(text) ?? inNext.exec(text))?.[1];
    if (file !== undefined) {
      this.#file = this.#report.paths.short(file);
      return 'hold';
    }
    const said = heading.exec(text)?.[1];
    if (said === undefined) return 'pass';
    this.#told = { said, line: text, lines: 0 };
    return 'hold';
  }

  end(): void {
    this.#settle(null, null);
  }

  #below(file: string, text: string): Answer {
    if (text === '') return 'hold';
    this.#file = null;
    const said =
      /^(?:(?:Type e|Module build failed|Module not found|Syntax e|E)rror|Module not found|TS\d{3,6}|\S{1,60}Error)\b.{0,2000}$/i.exec(
        text,
      )?.[0];
    if (said === undefined) return 'pass';
    const rule = /^(TS\d{3,6}): (.{0,2000})$/.exec(said);
    const message = said.replace(/^(?:Type e|E)rror: /, '');
    const key =
      rule === null
        ? ruleKey({ file, rule: diagnosticText(message.replace(/ in '.{1,1000}'$/, '')) })
        : ruleKey({ file, rule: rule[1] as string, symbol: symbolsIn(rule[2] as string) });
    this.#report.failing(key, text);
    return 'taken';
  }

  #place(told: { readonly said: string; lines: number }, text: string): Answer | null {
    const found = below.exec(text);
    if (found !== null) {
      this.#settle(found[1] ?? found[2] ?? null, found[3] ?? null);
      return 'taken';
    }
    told.lines += 1;
    if (told.lines <= MOST_BETWEEN && (text === '' || text === '│')) return 'hold';
    this.#settle(null, null);
    return null;
  }

  #settle(file: string | null, within: string | null): void {
    const told = this.#told;
    this.#told = null;
    if (told === null) return;
    const rule = diagnosticText(told.said);
    const short = file === null ? null : this.#report.paths.short(file);
    this.#report.failing(
      ruleKey({ file: short, rule, symbol: within === null ? null : diagnosticText(within) }),
      told.line,
    );
  }
}

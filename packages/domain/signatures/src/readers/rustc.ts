import { diagnosticText } from './diagnostics.ts';
import { ruleKey, symbolsIn } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** rustc and clippy, in the long form and the short one, and what cargo says of a build. */
export const rustc: ToolReader = {
  tool: 'rustc',
  opens: [
    '^error[',
    '^error: ',
    '^warning: ',
    ': error[E',
    '.rs:',
    '^Compiling ',
    '^Checking ',
    '^Finished ',
    '^Some errors have',
    '^For more information about',
  ],
  start: (report) => new RustcReader(report),
};

const headed = /^(error|warning)(?:\[([A-Z]\d{4})\])?: (.*)$/;
const short = /^(\S[^:]{0,300}\.rs):\d{1,7}:\d{1,7}: (error|warning|note|help)(?:\[([A-Z]\d{4})\])?: (.*)$/;
const place = /^\s{0,12}--> (\S.{0,400}?\.rs):\d{1,7}:\d{1,7}$/;
const frame = /^\s{0,12}(?:\d{1,7} {1,6})?(?:\||=|:::|\.\.\.|\d{1,7} [-+] )/;
const progress = /^(?:Compiling|Checking|Finished|Downloading|Downloaded|Blocking|Fresh|Dirty) /;
const summary =
  /^(?:aborting due to|could not compile|build failed|\d{1,6} errors? emitted|could not document|`.{1,200}` \((?:lib|bin|test|example|bench).{0,100}\) generated)/;
/** What rustc says without a code and cargo, npm or git never do. */
const uncoded =
  /^(?:expected |unexpected |cannot find |unused |linking with |mismatched |this file contains|unknown start|unterminated|missing |no rules expected|unneeded |[a-z]{2,12} `[^`]{1,200}` is never )/;
const service = /failed to (?:get|download|fetch|query)|registry|network|spurious|index|timed out/i;

class RustcReader implements LineReader {
  readonly #report: Report;
  #rust = false;
  #open: { code: string | undefined; message: string; error: boolean } | null = null;
  #linking = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#open !== null || this.#linking) {
      const answer = this.#below(line, text);
      if (answer !== null) return answer;
    }
    if (line !== text) {
      if (progress.test(text)) this.#rust = true;
      return progress.test(text) ? 'taken' : 'pass';
    }
    if (
      /^(?:Some errors have detailed explanations: |For more information about (?:an|this) error, try `rustc)/.test(
        text,
      )
    )
      return 'taken';
    const compact = short.exec(line);
    if (compact !== null) return this.#compact(compact);
    const found = headed.exec(line);
    return found === null ? 'pass' : this.#headed(found);
  }

  end(): void {
    this.#settle(null);
  }

  #compact(found: RegExpExecArray): Answer {
    this.#rust = true;
    if (found[2] === 'error') this.#failing(this.#report.paths.short(found[1] as string), found[3], found[4] as string);
    return 'taken';
  }

  #headed(found: RegExpExecArray): Answer {
    const [, level, code, said] = found;
    const message = said as string;
    if (summary.test(message)) return 'taken';
    if (code === undefined && !this.#rust && (level === 'warning' || !uncoded.test(message))) return 'pass';
    if (level === 'error' && (service.test(message) || /test failed, to rerun|targets? failed/.test(message)))
      return 'pass';
    if (code !== undefined) this.#rust = true;
    this.#open = { code, message, error: level === 'error' };
    this.#linking = message.startsWith('linking with');
    return 'hold';
  }

  #below(line: string, text: string): Answer | null {
    const file = place.exec(line)?.[1];
    if (file !== undefined && this.#open !== null) {
      this.#rust = true;
      this.#settle(this.#report.paths.short(file));
      return 'hold';
    }
    if (this.#linking) return this.#linker(line, text);
    if (text !== '' && (frame.test(line) || /^(?:note|help): /.test(text))) return 'hold';
    this.#settle(null);
    return null;
  }

  /** The linker's own words stand in the notes below. */
  #linker(line: string, text: string): Answer | null {
    const symbol = /undefined (?:symbol: |reference to [`'])([^\s'`]{1,400})/.exec(line)?.[1];
    if (symbol !== undefined) {
      this.#open = null;
      this.#report.failing(ruleKey({ rule: 'undefined reference', symbol }), text);
    }
    if (text !== '' && line !== text) return 'hold';
    this.#linking = false;
    this.#settle(null);
    return null;
  }

  #settle(file: string | null): void {
    const open = this.#open;
    this.#open = null;
    if (open?.error) this.#failing(file, open.code, open.message);
  }

  /** The short form puts the label of the place behind the message, the long form below the code. */
  #failing(file: string | null, code: string | undefined, message: string): void {
    const [said = '', named = ''] = parts(message);
    const symbol = /^`[^`]*`$/.test(named) ? `${said}: ${named}` : said;
    const key =
      code === undefined
        ? ruleKey({ file, rule: 'error', symbol: diagnosticText(symbol) })
        : ruleKey({ file, rule: code, symbol: symbolsIn(symbol) });
    this.#report.failing(key, message);
  }
}

/** Cut at each colon outside backticks. */
function parts(message: string): string[] {
  const found: string[] = [];
  let from = 0;
  let inside = false;
  for (let at = 0; at < message.length && found.length < 2; at += 1) {
    if (message[at] === '`') inside = !inside;
    if (inside || !message.startsWith(': ', at)) continue;
    found.push(message.slice(from, at));
    from = at + 2;
  }
  return [...found, message.slice(from)];
}

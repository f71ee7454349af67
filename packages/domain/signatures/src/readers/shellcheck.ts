import { ruleKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** `In bin/a.sh line 2:` with its rules below, or `bin/a.sh:2:6: note: ... [SC2086]`. */
export const shellcheck: ToolReader = {
  tool: 'shellcheck',
  opens: ['-- SC', '-^ SC', ' [SC', '^In ', '^Did you mean:', '^https://www.shellcheck.net/wiki/'],
  start: (report) => new ShellcheckReader(report),
};

const heading = /^In (.{1,400}) line \d{1,7}:$/;
const below = /^\^-{0,300}\^?(?:--)? SC(\d{4}) \((?:error|warning|info|style)\): (.*)$/;
const asGcc = /^(.{1,400}):\d{1,7}:\d{1,7}: (?:error|warning|note): (.*) \[SC(\d{4})\]$/;
/** The rules whose message begins with the variable it is about. */
const variable = /^([A-Za-z_]\w{0,100}) (?:appears unused|is referenced but not assigned|is read but|was|is)\b/;

class ShellcheckReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;
  /** The script's own lines come: one below a heading, a block below a proposal. */
  #script: 'line' | 'block' | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const file = heading.exec(line)?.[1];
    if (file !== undefined) {
      this.#file = this.#report.paths.short(file);
      this.#script = 'line';
      return 'hold';
    }
    if (text === 'Did you mean:') {
      this.#script = 'block';
      return 'hold';
    }
    if (this.#script !== null && text !== '') {
      if (this.#script === 'line') this.#script = null;
      return this.#script === null ? 'taken' : 'hold';
    }
    this.#script = null;
    const found = below.exec(text);
    if (found !== null) {
      this.#broken(this.#file, found[1] as string, found[2] as string, text);
      return 'taken';
    }
    const compact = asGcc.exec(line);
    if (compact !== null) {
      this.#broken(this.#report.paths.short(compact[1] as string), compact[3] as string, compact[2] as string, text);
      return 'taken';
    }
    if (text.startsWith('https://www.shellcheck.net/wiki/')) return 'taken';
    return 'pass';
  }

  #broken(file: string | null, rule: string, message: string, line: string): void {
    this.#report.failing(ruleKey({ file, rule: `SC${rule}`, symbol: variable.exec(message)?.[1] ?? null }), line);
  }
}

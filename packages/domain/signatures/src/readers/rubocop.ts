import { diagnosticText } from './diagnostics.ts';
import { ruleKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** `lib/cart.rb:2:3: W: Lint/UselessAssignment: Useless assignment to variable - prize.` */
export const rubocop: ToolReader = {
  tool: 'rubocop',
  opens: [
    ': C: ',
    ': W: ',
    ': E: ',
    ': F: ',
    ': R: ',
    ': I: ',
    '^C:',
    '^W:',
    '^E:',
    '^F:',
    '^R:',
    '^== ',
    ': error: ',
    '^Inspecting ',
    ' inspected, ',
  ],
  start: (report) => new RubocopReader(report),
};

const cop = '([A-Z]\\w{1,60}(?:/[A-Z]\\w{1,80}){1,3})';
const full = new RegExp(String.raw`^(\S.{0,400}?):\d{1,7}:\d{1,7}: [A-Z]: (?:\[[A-Z]\w{1,20}\] )?${cop}: (.*)$`);
const simple = new RegExp(String.raw`^[A-Z]: {1,6}\d{1,7}: {1,6}\d{1,7}: (?:\[[A-Z]\w{1,20}\] )?${cop}: (.*)$`);
const annotated = new RegExp(String.raw`^(\S.{0,400}?): error: ${cop}: (.*)$`);
const heading = /^== (\S.{0,400}) ==$/;

class RubocopReader implements LineReader {
  readonly #report: Report;
  #file: string | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const file = heading.exec(line)?.[1];
    if (file !== undefined) {
      this.#file = this.#report.paths.short(file);
      return 'taken';
    }
    const found = full.exec(line) ?? annotated.exec(line);
    if (found !== null) {
      this.#offense(this.#report.paths.short(found[1] as string), found[2] as string, found[3] as string, line);
      return 'hold';
    }
    const below = simple.exec(line);
    if (below !== null) {
      this.#offense(this.#file, below[1] as string, below[2] as string, line);
      return 'taken';
    }
    if (/^Inspecting \d|^\d{1,7} files? inspected, /.test(line)) return 'taken';
    // The code below an offense, and its mark.
    return text !== '' && line !== text && !/^\d/.test(text) ? 'hold' : this.#code(line, text);
  }

  #code(line: string, text: string): Answer {
    return text !== '' && /^\^{1,300}$/.test(text) && line.length > 0 ? 'taken' : 'pass';
  }

  /** What stands after a dash is the name it is about; only some reporters keep its quotes. */
  #offense(file: string | null, rule: string, message: string, line: string): void {
    const plain = message.replaceAll('`', '');
    const sentence = /^(.{1,300}?)\.(?: |$)/.exec(plain)?.[1] ?? plain;
    const dash = sentence.indexOf(' - ');
    this.#report.failing(
      ruleKey({ file, rule, symbol: diagnosticText(dash === -1 ? sentence : sentence.slice(dash + 3)) }),
      line,
    );
  }
}

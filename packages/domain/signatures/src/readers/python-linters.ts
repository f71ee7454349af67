import { diagnosticText } from './diagnostics.ts';
import { ruleKey, symbolsIn } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** `shop/cart.py:1:1: F401 'os' imported but unused`, as flake8 and ruff say it. */
const concise =
  /^(\S[^:]{0,300}\.(?:pyi?|ipynb|pyx))(?::cell \d{1,5})?:\d{1,7}:(?:\d{1,7}:)? ([A-Z]{1,5}\d{3,4}(?= )|(?:SyntaxError|invalid-syntax)(?=: )):? (.*)$/;
const pylintLike = /^(\S[^:]{0,300}\.pyi?):\d{1,7}: \[([A-Z]{1,5}\d{3,4})\] (.*)$/;
/** Which of the two spoke: ruff begins with a capital or puts names in backticks. */
const asRuff = (rule: string, message: string): boolean =>
  /^\[\*\] |`/.test(message) ||
  !/^[A-Z]{1,5}\d/.test(rule) ||
  (/^[EWF]\d/.test(rule) && !rule.startsWith('E9') && /^[A-Z]/.test(message));

const keyOf = (report: Report, path: string, rule: string, message: string): string => {
  const said = message.replace(/^\[\*\] /, '');
  const named = /^(?:SyntaxError|invalid-syntax)$/.test(rule) ? diagnosticText(said) : symbolsIn(said);
  return ruleKey({ file: report.paths.short(path), rule, symbol: named });
};

export const flake8: ToolReader = {
  tool: 'flake8',
  opens: ['.py:', '.pyi:', '.pyx:'],
  start: (report) => ({
    take(line) {
      // `--count` and `--statistics` stand right below.
      if (/^\d{1,9}(?: {1,8}[A-Z]{1,5}\d{3,4} .{1,400})?$/.test(line)) return 'hold';
      const found = concise.exec(line) ?? pylintLike.exec(line);
      if (found === null || asRuff(found[2] as string, found[3] as string)) return 'pass';
      report.failing(keyOf(report, found[1] as string, found[2] as string, found[3] as string), line);
      return 'hold';
    },
  }),
};

export const ruff: ToolReader = {
  tool: 'ruff',
  // The full form begins with the rule alone; the first one may be of any family, the rest is read on from it.
  opens: [
    ...['.py:', '.pyi:', '.ipynb:', '^Would reformat: ', ' [*] ', '^invalid-syntax'],
    ...[
      '^F4',
      '^F5',
      '^F6',
      '^F8',
      '^E1',
      '^E2',
      '^E3',
      '^E4',
      '^E5',
      '^E7',
      '^E9',
      '^W2',
      '^W6',
      '^I00',
      '^UP0',
      '^B0',
      '^B9',
    ],
    ...[
      '^C4',
      '^C90',
      '^SIM',
      '^RUF',
      '^PL',
      '^S1',
      '^S3',
      '^S6',
      '^D1',
      '^D2',
      '^D4',
      '^ANN',
      '^N8',
      '^T20',
      '^PT',
      '^ARG',
      '^RET',
    ],
  ],
  start: (report) => new RuffReader(report),
};

const heading = /^(?:error\[)?([A-Z]{1,5}\d{3,4}|invalid-syntax)\]?:? (.*)$/;

const codeBelow = /^\s{0,12}(?:\d{1,7} {1,6})?(?:\||=|\.\.\.)|^help: |^\s{0,12}\d{1,7} [-+] /;

class RuffReader implements LineReader {
  readonly #report: Report;
  #rule: { name: string; message: string } | null = null;
  #below = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const found = concise.exec(line);
    if (found !== null) {
      if (!asRuff(found[2] as string, found[3] as string)) return 'pass';
      this.#report.failing(keyOf(this.#report, found[1] as string, found[2] as string, found[3] as string), line);
      this.#below = true;
      return 'hold';
    }
    const pending = this.#rule;
    this.#rule = null;
    if (pending !== null && text.startsWith('--> ')) {
      this.#report.failing(
        keyOf(this.#report, text.slice(4), pending.name, pending.message),
        `${pending.name} ${pending.message}`,
      );
      this.#below = true;
      return 'hold';
    }
    if (line.startsWith('Would reformat: ')) {
      this.#report.failing(ruleKey({ file: this.#report.paths.short(line.slice(16)), rule: 'format' }), line);
      return 'taken';
    }
    const rule = heading.exec(line);
    if (rule !== null) {
      this.#rule = { name: rule[1] as string, message: rule[2] as string };
      return 'hold';
    }
    // The code below, what helps, and the blank line before the next rule.
    if (this.#below && (text === '' || codeBelow.test(line))) return 'hold';
    this.#below = false;
    return 'pass';
  }
}

/** `shop/cart.py:8:4: E0602: Undefined variable 'prize' (undefined-variable)`. */
export const pylint: ToolReader = {
  tool: 'pylint',
  opens: ['.py:', '^************* Module '],
  start: (report) => ({
    take(line) {
      if (line.startsWith('************* Module ')) return 'taken';
      const found = pylintText.exec(line);
      const parsed = found === null ? pylintParseable.exec(line) : null;
      if (found !== null) {
        const file = report.paths.short(found[1] as string);
        report.failing(ruleKey({ file, rule: found[3] as string, symbol: diagnosticText(found[2] as string) }), line);
      } else if (parsed !== null) {
        const file = report.paths.short(parsed[1] as string);
        report.failing(ruleKey({ file, rule: parsed[2] as string, symbol: diagnosticText(parsed[3] as string) }), line);
      }
      return found === null && parsed === null ? 'pass' : 'taken';
    },
  }),
};
const pylintText = /^(\S[^:]{0,300}\.pyi?):\d{1,7}:\d{1,7}: [CRWEFI]\d{4}: (.{1,2000}) \(([a-z][\w-]{1,80})\)$/;
const pylintParseable =
  /^(\S[^:]{0,300}\.pyi?):\d{1,7}: \[[CRWEFI]\d{4}\(([a-z][\w-]{1,80})\)(?:, [^\]]{0,200})?\] (.*)$/;

/** `shop/cart.py:8: error: Name "prize" is not defined  [name-defined]`. */
export const mypy: ToolReader = {
  tool: 'mypy',
  opens: ['.py:', '.pyi:', '^mypy: '],
  start: (report) => new MypyReader(report),
};

const typed = /^(\S[^:]{0,300}\.pyi?):(?:\d{1,7}:){0,4} (error|note|warning): (.*)$/;
const code = / {1,2}\[([a-z][\w-]{1,60})\]$/;
const MOST_WRAPPED = 6;

class MypyReader implements LineReader {
  readonly #report: Report;
  #open: { path: string; message: string; lines: number } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const found = typed.exec(line);
    if (found === null) return this.#goesOn(line, text);
    this.#settle();
    if (found[2] !== 'error') return 'taken';
    this.#open = { path: found[1] as string, message: found[3] as string, lines: 1 };
    return 'hold';
  }

  end(): void {
    this.#settle();
  }

  /** `--pretty` breaks a message where the terminal ends, and shows the code below it. */
  #goesOn(line: string, text: string): Answer {
    const open = this.#open;
    if (
      open !== null &&
      !code.test(open.message) &&
      text !== '' &&
      line === text &&
      open.lines < MOST_WRAPPED &&
      !/^Found \d/.test(line)
    ) {
      this.#open = { path: open.path, message: `${open.message} ${text}`, lines: open.lines + 1 };
      return 'hold';
    }
    const had = open !== null;
    if (had && line !== text && open.lines < MOST_WRAPPED) {
      this.#open = { ...open, lines: open.lines + 1 };
      return 'hold';
    }
    this.#settle();
    const unread = /^mypy: (?:error: )?(.*)$/.exec(line)?.[1];
    if (unread === undefined) return 'pass';
    this.#report.failing(ruleKey({ rule: 'mypy', symbol: diagnosticText(unread) }), line);
    return 'taken';
  }

  #settle(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const rule = code.exec(open.message)?.[1];
    const said = rule === undefined ? open.message : open.message.replace(code, '');
    const symbol = symbolsIn(said) || diagnosticText(said);
    this.#report.failing(ruleKey({ file: this.#report.paths.short(open.path), rule: rule ?? 'error', symbol }), said);
  }
}

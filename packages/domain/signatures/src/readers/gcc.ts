import { diagnosticText } from './diagnostics.ts';
import { ruleKey, symbolsIn } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** The diagnostics of gcc, clang and their linkers: `src/cart.c:5:5: error: 'prize' undeclared`. */
export const gcc: ToolReader = {
  tool: 'gcc',
  opens: [
    ': error: ',
    ': fatal error: ',
    ': warning: ',
    ': note: ',
    'undefined reference to ',
    'undefined symbol: ',
    'multiple definition of ',
    'cannot find -l',
    'collect2: error',
    '^cc1',
    '^compilation terminated.',
    '^Undefined symbols for architecture',
    ' generated.',
    ': in function ',
  ],
  start: (report) => new GccReader(report),
};

const source =
  /^((?:[A-Za-z]:)?[^\s:][^:]{0,300}\.(?:c|cc|cpp|cxx|c\+\+|C|h|hh|hpp|hxx|H|ipp|inl|tcc|inc|m|mm|cu|cuh|S|s|f|f90|cppm|ixx)):\d{1,7}(?::\d{1,7})?: (fatal error|error|warning|note): (.*)$/;
const driver =
  /^(?:.{0,100}\/)?(cc1(?:plus|obj)?|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?(?:-\d{1,2})?|<command-line>|ld(?:\.lld|64\.lld)?): (fatal error|error): (.*)$/;
const flag = / \[(-W[^\]]{1,100})\]$/;
const undefinedReference = /(?:^|[\s:(/])undefined reference to [`‘'](.{1,400})['’]$/;
const undefinedSymbol = /undefined symbol: (.{1,400})$/;
const defined = /multiple definition of [`‘'](.{1,400}?)['’]/;
const library = /cannot find (-l[^\s:]{1,100})/;
/** The source file before `:(.text+0xf):` or `:3:`. */
const linked = /(?:^|[\s/])([\w.+-]{1,200}\.(?:c|cc|cpp|cxx|C|m|mm|cu|f90|S)):(?:\(|\d)/;
const frame = /^\s{0,10}\d{0,7} \|/;
const wrapperWords = /^(?:linker command failed|ld returned \d|all warnings being treated|no input files)/;

class GccReader implements LineReader {
  readonly #report: Report;
  /** Lines of source that may follow a diagnostic. */
  #frame = 0;
  #architecture = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const found = source.exec(line);
    if (found !== null) {
      if (found[2] === 'error' || found[2] === 'fatal error') this.#diagnostic(found[1] as string, found[3] as string);
      this.#frame = 2;
      return 'hold';
    }
    if (this.#architecture) return this.#macLinker(text);
    const other = this.#linker(line, text);
    if (other !== null) {
      this.#frame = 0;
      return other;
    }
    return this.#inFrame(line, text);
  }

  #diagnostic(path: string, message: string): void {
    const option = flag.exec(message)?.[1];
    const said = option === undefined ? message : message.slice(0, -option.length - 3);
    const rule = option
      ?.split(',')
      .at(-1)
      ?.replace(/^-W(?:error=)?/, '');
    const file = this.#report.paths.short(path);
    const key =
      rule === undefined || rule === 'error'
        ? ruleKey({ file, rule: 'error', symbol: diagnosticText(said) })
        : ruleKey({ file, rule, symbol: symbolsIn(said) });
    this.#report.failing(key, message);
  }

  #linker(line: string, text: string): Answer | null {
    const symbol = undefinedReference.exec(line)?.[1] ?? undefinedSymbol.exec(line)?.[1];
    const file = linked.exec(line)?.[1] ?? null;
    if (symbol !== undefined) return this.#failing(ruleKey({ file, rule: 'undefined reference', symbol }), text);
    const twice = defined.exec(line)?.[1];
    if (twice !== undefined) return this.#failing(ruleKey({ file, rule: 'multiple definition', symbol: twice }), text);
    const missing = library.exec(line)?.[1];
    if (missing !== undefined) return this.#failing(ruleKey({ rule: 'cannot find', symbol: missing }), text);
    if (line.startsWith('Undefined symbols for architecture')) {
      this.#architecture = true;
      return 'hold';
    }
    if (
      /^(?:collect2|clang(?:\+\+)?|cc1(?:plus)?): (?:fatal )?error: |^cc1\w{0,4}: all warnings|^compilation terminated\.$/.test(
        text,
      )
    )
      return this.#driver(text);
    const driven = driver.exec(text);
    if (driven !== null) return this.#driver(text);
    if (
      /: in function [`‘']/.test(line) ||
      /^\d{1,6} (?:warning|error)s?(?: and \d{1,6} errors?)? generated\.$/.test(text)
    )
      return 'taken';
    return null;
  }

  #driver(text: string): Answer {
    const driven = driver.exec(text);
    if (driven === null || wrapperWords.test(driven[3] as string)) return 'taken';
    return this.#failing(ruleKey({ rule: driven[1] as string, symbol: diagnosticText(driven[3] as string) }), text);
  }

  #failing(key: string, message: string): Answer {
    this.#report.failing(key, message);
    return 'taken';
  }

  /** `  "_gone", referenced from:` and where, until `ld: symbol(s) not found`. */
  #macLinker(text: string): Answer {
    const symbol = /^"_?(.{1,400})", referenced from:$/.exec(text)?.[1];
    if (symbol !== undefined) this.#report.failing(ruleKey({ rule: 'undefined reference', symbol }), text);
    else if (text.startsWith('ld: ') || text === '') {
      this.#architecture = false;
      return text === '' ? 'pass' : 'taken';
    }
    return 'hold';
  }

  /** The code, the caret below it and what it hints at. */
  #inFrame(line: string, text: string): Answer {
    if (this.#frame === 0 || text === '') return 'pass';
    if (frame.test(line) || /^[~^][~^ ]*$/.test(text)) return 'hold';
    // clang prints the code as it stands, then a line of marks.
    if (this.#frame === 2 && !/^\S{1,200}: |^In file included from |^\S{1,100}: \*\*\*/.test(line)) {
      this.#frame = 1;
      return 'hold';
    }
    if (this.#frame === 1 && /^[~^ |\d-]{0,300}$/.test(text)) return 'hold';
    this.#frame = 0;
    return 'pass';
  }
}

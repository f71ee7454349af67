import { outputLimits } from '../limits.ts';
import { Remembered } from './diagnostics.ts';
import { ruleKey, symbolsIn, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/** dotnet test (`  Failed Shop.CartTest.Total [3 ms]`, xunit's own `[FAIL]`) and the compiler: `Cart.cs(5,9): error CS0103`. */
export const dotnet: ToolReader = {
  tool: 'dotnet test',
  opens: [
    '^Failed ',
    '^failed ',
    ' [FAIL]',
    ': error ',
    '^Failed! ',
    '^Passed! ',
    '^Error Message:',
    '^Starting test execution',
    '^Test Run Failed',
    '^MSBUILD : error',
    '^Build FAILED',
  ],
  start: (report) => new DotnetReader(report),
};

const compiled =
  /^(?:(\S.{0,400}?\.(?:cs|fs|fsx|vb|cshtml|razor|xaml|targets|props))\(\d{1,7}(?:,\d{1,7}){0,3}\)|(\S.{0,400}?\.(?:csproj|fsproj|vbproj|sln|slnx))|MSBUILD ?|CSC ?) ?: (error) ([A-Z]{2,10}\d{1,6}): (.*)$/;
const failed = /^[Ff]ailed (\S.{0,500}?)(?: \[<?[\d.,:hms ]{1,24}\]| \([\d.,:hms ]{1,24}\))$/;
const xunit = /^\[xUnit\.net [\d:.]{1,20}\] {1,12}(\S.{0,500}) \[FAIL\]$/;
const raised = /^(?:[A-Za-z_]\w{0,80}\.){0,12}([A-Z]\w{0,100}(?:Exception|Error))\b ?:/;
const asserted = /^(?:(Assert\.\w{1,40})(?:\(\))? (?:Failure|failed)|(Expected): )/;

class DotnetReader implements LineReader {
  readonly #report: Report;
  readonly #tests = new Remembered<{ error: string | null; line: string }>(outputLimits.remembered);
  #last: string | null = null;
  #message = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#message) return this.#reason(text);
    const diagnostic = compiled.exec(line);
    if (diagnostic !== null) return this.#compiled(diagnostic, text);
    const test = failed.exec(text)?.[1] ?? xunit.exec(text)?.[1];
    if (test !== undefined) {
      this.#last = test;
      if (!this.#tests.has(test)) this.#tests.set(test, { error: null, line: text });
      return 'adopt';
    }
    if (/^Error Message:$/.test(text) && this.#last !== null) {
      this.#message = true;
      return 'hold';
    }
    if (text === 'Build FAILED.') return 'taken';
    if (/^(?:Failed! {1,3}-|Passed! {1,3}-|Test Run Failed)/.test(text)) return 'close';
    return text.startsWith('Starting test execution') ? 'open' : 'pass';
  }

  end(): void {
    for (const [name, { error, line }] of this.#tests) this.#report.failing(testKey({ path: [name], error }), line);
  }

  #reason(text: string): Answer {
    this.#message = false;
    const known = this.#last === null ? undefined : this.#tests.get(this.#last);
    const assertion = asserted.exec(text);
    if (known !== undefined) known.error = raised.exec(text)?.[1] ?? assertion?.[1] ?? null;
    return text === '' ? 'pass' : 'taken';
  }

  #compiled(found: RegExpExecArray, text: string): Answer {
    const path = found[1] ?? found[2];
    const message = (found[5] as string).replace(/ \[[^\]]{1,400}proj(?:::[^\]]{1,100})?\]$/, '');
    const file = path === undefined ? null : this.#report.paths.short(path);
    this.#report.failing(ruleKey({ file, rule: found[4] as string, symbol: symbolsIn(message) }), text);
    return 'taken';
  }
}

import { outputLimits } from '../limits.ts';
import { diagnosticText, Remembered } from './diagnostics.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Maven with Surefire or Failsafe. A test's own line names its class in full and the line below it the error; the
 * results at the end name both in short, so they count only where no such line was seen.
 */
export const maven: ToolReader = {
  tool: 'maven',
  opens: [
    '^[ERROR]',
    '<<< ',
    '^[INFO] ',
    '^[WARNING] ',
    '^[FATAL] ',
    '^T E S T S',
    '^Tests run: ',
    '^Failed tests:',
    '^Tests in error:',
    '^Running ',
    'org.apache.maven.',
  ],
  start: (report) => new MavenReader(report),
};

const timed = /^(\S.{0,600}?)(?: --)? {1,2}Time elapsed: [\d.,]{1,16} s(?:ec)? {1,2}<<< (?:FAILURE|ERROR)!$/;
const inBrackets = /^(\S.{0,400}?)\(([\w.$]{1,300})\)$/;
const raised = /^(?:[a-z_$][\w$]{0,80}\.){0,12}([A-Z][\w$]{0,120})(?::|$)/;
const short =
  /^\s{2}([\w$]{1,200}(?:>[\w$]{1,200})?\.[\w$[\]{}(), ]{1,200}?)(?::\d{1,7})?(?:->.{0,300}?)?(?: .{0,400})?$/;
const goal = /^Failed to execute goal (\S{1,200}?):(\S{1,100}?):[^:\s]{1,40}:(\S{1,60})/;
/** What Maven says around a failure, never which. */
const around =
  /^(?:Please refer to |-> \[Help|\[Help \d|To see the full stack|Re-run Maven|For more information about|After correcting|COMPILATION ERROR|\d{1,6} errors? ?$|$|There are test failures|Command was |Process Exit Code|Error occurred in starting fork|ExecutionException |The forked VM terminated|mvn .{0,40}-rf|org\.apache\.maven\.surefire\.booter|\tat |Tests run:|The build could not read|Some problems were encountered|\[ERROR\]|See .{1,400} for (?:the )?individual)/;

class MavenReader implements LineReader {
  readonly #report: Report;
  #test: { path: string[]; line: string } | null = null;
  #named = 0;
  #results = false;
  #crashed = false;
  readonly #short = new Remembered<string>(outputLimits.remembered);

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (this.#test !== null) {
      const error = raised.exec(text)?.[1] ?? null;
      this.#settle(error);
      if (error !== null) return 'taken';
    }
    if (text === '') return 'pass';
    const level = /^\[(INFO|ERROR|WARNING|FATAL|DEBUG)\] ?(.*)$/.exec(line);
    const said = level === null ? line : (level[2] as string);
    const test = said.includes('<<< ') ? timed.exec(said) : null;
    if (test !== null) return this.#failing(test[1] as string, text);
    if (/^ ?T E S T S$/.test(said)) return 'open';
    if (/^(?:Caused by: )?org\.apache\.maven\./.test(said)) return 'taken';
    if (level === null) return this.#bare(line);
    if (level[1] === 'INFO') return this.#info(said);
    return level[1] === 'ERROR' || level[1] === 'FATAL' ? this.#error(said, text) : 'pass';
  }

  end(): void {
    this.#settle(null);
    if (this.#named > 0) return;
    for (const [name, line] of this.#short) this.#report.failing(testKey({ path: name.split('.') }), line);
  }

  #failing(said: string, line: string): Answer {
    if (said.startsWith('Tests run: ')) return 'adopt';
    const old = inBrackets.exec(said);
    // A class that could not be set up is named alone.
    this.#test = { path: old === null ? split(said) : [old[2] as string, old[1] as string], line };
    return 'hold';
  }

  #settle(error: string | null): void {
    const test = this.#test;
    this.#test = null;
    if (test === null) return;
    this.#named += 1;
    this.#report.failing(testKey({ path: test.path, error }), test.line);
  }

  #info(said: string): Answer {
    if (/^BUILD (?:FAILURE|SUCCESS)$/.test(said)) return 'close';
    if (said === 'Results:') {
      this.#results = true;
      return 'open';
    }
    return 'taken';
  }

  /** Surefire before 2.20 wrote without levels. */
  #bare(line: string): Answer {
    if (/^(?:Failed tests|Tests in error): /.test(line) || line === 'Results :') {
      this.#results = true;
      const first = /^Failed tests: {1,4}(.{1,400})$/.exec(line)?.[1];
      if (first !== undefined) this.#shortly(`  ${first}`);
      return 'open';
    }
    if (/^Tests run: \d/.test(line)) {
      this.#results = false;
      return line.includes('<<<') ? 'adopt' : 'open';
    }
    if (/^Running [\w.$]{1,300}$/.test(line)) return 'adopt';
    return 'pass';
  }

  #error(said: string, text: string): Answer {
    if (/^(?:Failures|Errors): ?$/.test(said)) {
      this.#results = true;
      return 'open';
    }
    if (/^Tests run: \d/.test(said)) {
      this.#results = false;
      return 'close';
    }
    if (/^Crashed tests:$/.test(said)) {
      this.#crashed = true;
      return 'taken';
    }
    if (this.#crashed && /^[\w.$]{1,300}$/.test(said)) {
      this.#crashed = false;
      this.#report.failing(testKey({ path: [said], error: 'crash' }), text);
      this.#named += 1;
      return 'taken';
    }
    if (this.#results && said.startsWith('  ')) {
      this.#shortly(said);
      return 'taken';
    }
    return this.#goal(said, text);
  }

  #goal(said: string, text: string): Answer {
    const failed = goal.exec(said);
    if (failed !== null) {
      const [, , plugin, name] = failed as unknown as [string, string, string, string];
      this.#report.wrapping(testKey({ path: [`${plugin}:${name}`] }), text);
      return 'taken';
    }
    if (
      /^\S{1,400}\([\w.$]{1,300}\) {1,2}(?:Time elapsed: |skipped$)/.test(said) ||
      around.test(said) ||
      /^\s/.test(said)
    )
      return 'taken';
    const pom = /^(?:Non-readable|Malformed|Non-parseable) POM (\S{1,400}?):? /.exec(said);
    if (pom !== null) {
      this.#report.failing(
        testKey({ path: [this.#report.paths.short(pom[1] as string), diagnosticText(said.split(' ', 2).join(' '))] }),
        text,
      );
      return 'taken';
    }
    return 'pass';
  }

  #shortly(said: string): void {
    const name = short.exec(said)?.[1];
    if (name !== undefined) this.#short.set(name, said.trim());
  }
}

/** `org.example.CartTest.total` ends with the test, `org.example.SetUpTest` is a class. */
function split(name: string): string[] {
  const cut = /^(?:[a-z_$][\w$]{0,80}\.){0,12}[A-Z][\w$]{0,200}/.exec(name)?.[0];
  return cut === undefined || cut === name ? [name] : [cut, name.slice(cut.length).replace(/^\./, '')];
}

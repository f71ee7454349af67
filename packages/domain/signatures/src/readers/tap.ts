import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * TAP 12 to 14, with subtests as node:test and node-tap nest them. A line `not ok` counts only in an output that has a
 * version or a plan (anything may print `not ok`): until one came, failures are kept back and the lines are passed on.
 */
export const tap: ToolReader = {
  tool: 'tap',
  opens: ['^not ok', '^ok ', '^TAP version 1', '^1..', '^# ', '^Bail out!'],
  start: (report) => new TapReader(report),
};

interface Subtest {
  readonly indent: number;
  readonly name: string;
  failed: boolean;
}

/** A failing test, until its diagnostic block has been read. */
interface Failed {
  readonly indent: number;
  readonly path: readonly string[];
  readonly line: string;
  readonly told: Map<string, string>;
}

const testLine = /^(not )?ok\b(?: {1,4}(\d{1,9}))?(?: {1,4}-)?(?: (.{0,3000}))?$/;
const timed = / # time=\d[\d.]{0,20}ms(?: \{)?$/;
const plan = /^1\.\.(\d{1,9})(?: {0,9}#.{0,400})?$/;
const member = /^(location|code|name|failureType|error|message|file|fileName): (.{1,3000})$/;
/** bats names the file in a comment below the test. */
const inBats = /^#(?:.{0,400} in test file| {1,3}\(?in test file)? {0,1}(\S{1,400}\.bats)(?:, line |: line )\d{1,7}/;
const ownComment =
  /^# (?:Subtest: |Looks like |tests? |suites |pass |fail |ok$|cancelled |skipped |todo |duration_ms |time=|Failed test)/;

class TapReader implements LineReader {
  readonly #report: Report;
  /** A version or a plan was seen. */
  #isTap = false;
  #planned: number | null = null;
  #seen = 0;
  readonly #kept: { key: string; message: string }[] = [];
  #subtests: Subtest[] = [];
  #failed: Failed | null = null;
  /** Indentation of the diagnostic block that is being read; -1 = none. */
  #block = -1;

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return this.#failed === null && this.#isTap && !this.#isComplete();
  }

  take(line: string, text: string): Answer {
    const indent = line.length - text.length;
    if (this.#failed !== null && text !== '' && this.#diagnostic(text, indent)) return 'hold';
    // Braced subtests have a reader of their own.
    if (timed.test(text)) return 'pass';
    const test = testLine.exec(text);
    if (test !== null) return this.#test(test, text, indent);
    if (text.startsWith('TAP version 1')) return this.#confirm('open');
    const planned = plan.exec(text);
    if (planned !== null) return this.#plan(Number(planned[1]), indent);
    if (text.startsWith('# ')) return this.#comment(text, indent);
    if (!this.#isTap || text === '') return 'pass';
    if (text.startsWith('Bail out!')) this.#tell(testKey({ path: ['Bail out!'] }), text);
    else if (indent === 0 && this.#isComplete()) return 'leave';
    return text.startsWith('Bail out!') ? 'taken' : 'pass';
  }

  end(): void {
    this.#settle();
  }

  #isComplete(): boolean {
    return this.#planned !== null && this.#seen >= this.#planned;
  }

  #confirm(answer: Answer): Answer {
    this.#settle();
    this.#isTap = true;
    for (const { key, message } of this.#kept.splice(0)) this.#report.failing(key, message);
    return answer;
  }

  #plan(count: number, indent: number): Answer {
    if (indent > 0) return this.#isTap ? 'taken' : 'pass';
    const isLast = this.#isTap && this.#seen > 0 && this.#planned === null;
    const answer = this.#confirm('adopt');
    this.#planned = count;
    return isLast && this.#isComplete() ? 'close' : answer;
  }

  #test([, not, , said = '']: RegExpExecArray, text: string, indent: number): Answer {
    this.#settle();
    if (indent === 0) this.#seen += 1;
    const subtest = this.#leave(indent);
    const { name, isExcused } = described(said);
    const ended = subtest !== null && subtest.name === name && subtest.failed;
    if (not === undefined || isExcused || ended) return this.#isTap ? 'taken' : 'pass';
    for (const around of this.#subtests) around.failed = true;
    const path = [...this.#subtests.map((around) => around.name), name];
    this.#failed = { indent, path, line: text, told: new Map() };
    return this.#isTap ? 'hold' : 'pass';
  }

  #leave(indent: number): Subtest | null {
    let left: Subtest | null = null;
    while ((this.#subtests.at(-1)?.indent ?? -1) >= indent) left = this.#subtests.pop() ?? null;
    return left;
  }

  #comment(text: string, indent: number): Answer {
    this.#settle();
    if (text.startsWith('# Subtest: ')) {
      this.#leave(indent);
      if (this.#subtests.length < outputLimits.headings)
        this.#subtests.push({ indent, name: text.slice(11), failed: false });
    }
    if (!this.#isTap) return ownComment.test(text) ? 'taken' : 'pass';
    if (/^# Looks like (?:you planned|your test) /.test(text)) this.#tell(testKey({ path: ['plan'] }), text);
    return 'taken';
  }

  /** `---` to `...` below the test, indented more. `true`: the line belongs to it. */
  #diagnostic(text: string, indent: number): boolean {
    const failed = this.#failed as Failed;
    if (this.#block === -1) {
      const bats = inBats.exec(text)?.[1];
      if (bats !== undefined) failed.told.set('file', bats);
      if (bats !== undefined || /^# {1,3}\(?from function /.test(text)) return true;
      if (text !== '---' || indent <= failed.indent) return false;
      this.#block = indent;
      return true;
    }
    if (indent < this.#block) return false;
    if (text === '...' && indent === this.#block) this.#settle();
    else {
      const [, name, value] = member.exec(text) ?? [];
      const isOwn = indent === this.#block || name === 'file' || name === 'fileName';
      if (name !== undefined && value !== undefined && isOwn && !failed.told.has(name))
        failed.told.set(name, unquoted(value));
    }
    return true;
  }

  #settle(): void {
    const failed = this.#failed;
    this.#failed = null;
    this.#block = -1;
    if (failed === null || failed.told.get('failureType') === 'subtestsFailed') return;
    const { told, line } = failed;
    const { short } = this.#report.paths;
    const place = told.get('location') ?? told.get('file') ?? told.get('fileName');
    const file = place === undefined ? null : short(place);
    const path = failed.path.map((name) => (/[\\/].{0,300}\.\w{1,9}$/.test(name) ? short(name) : name));
    const names = path.filter((name, at) => !(at === path.length - 1 && name === file));
    this.#tell(testKey({ file, path: names, error: howOf(told) }), told.get('error') ?? told.get('message') ?? line);
  }

  #tell(key: string, message: string): void {
    if (this.#isTap) this.#report.failing(key, message);
    else if (this.#kept.length < outputLimits.remembered) this.#kept.push({ key, message });
  }
}

/** A test's description without its directive; excused = what fails is expected to, or was not run. */
function described(said: string): { name: string; isExcused: boolean } {
  const directive = /(?:^| )# ?(todo|skip|time=)/i.exec(said);
  if (directive === null) return { name: said.replace(/^- /, '').trim(), isExcused: false };
  const name = said.slice(0, directive.index).replace(/^- /, '').trim();
  return { name, isExcused: /# ?(?:todo|skip)/i.test(said.slice(directive.index)) };
}

function howOf(told: ReadonlyMap<string, string>): string | null {
  if (told.get('failureType') === 'testTimeoutFailure') return 'timeout';
  const code = told.get('code');
  const own = code === undefined || code.startsWith('ERR_') ? '' : `${code} `;
  return errorKind(`${told.get('name') ?? 'Error'}: ${own}${told.get('error') ?? told.get('message') ?? ''}`);
}

function unquoted(value: string): string {
  const quote = value[0];
  return (quote === "'" || quote === '"') && value.length > 1 && value.endsWith(quote) ? value.slice(1, -1) : value;
}

import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * The default, verbose, tree and dot reporters of Vitest.
 *
 * The list of failures names each with its error; the tree above it names them too, without one. What only the tree
 * names (the list was cut) is reported at the end. A file that did not load is an item of its own, so is an error that
 * belongs to no test.
 */
export const vitest: ToolReader = {
  tool: 'vitest',
  opens: [
    '^RUN ',
    '^DEV ',
    '^FAIL  ',
    '^× ',
    '^❯ ',
    '^⎯⎯⎯',
    '^Test Files ',
    '^Duration ',
    '^ERROR: Coverage for ',
    '^ERROR: Uncovered ',
    'stdout | ',
    'stderr | ',
  ],
  passing: [['✓ ', '']],
  start: (report) => new VitestReader(report),
};

const banner = /^(?:RUN|DEV) {1,3}v\d[\w.-]{0,30} {1,3}(\S.{0,1000})$/;
const heading =
  /^⎯{3,40} (Failed (?:Tests|Suites|Benchmarks|Typechecks) \d{1,9}|Unhandled (?:Errors?|Rejection|Source Errors?)|Uncaught Exception|Typecheck Error|Unhandled Source Errors) ⎯{3,40}$/;
const separator = /^⎯{10,80}(?:\[\d{1,9}\/\d{1,9}\]⎯{0,10})?$/;
const attempts = /( \((?:initial run|(?:\d{1,6}(?:st|nd|rd|th) (?:retry|repeat)))(?:, [\w ]{1,30}){0,20}\))$/;
const labelled = /^(?:\|([^|]{1,100})\| {1,2}|([\w@.:/-]{1,60}) {2})(\S.{0,4000})$/;
const failedFile = /^(\S.{0,1000}?) \[ .{1,1000} \]$/;
const originated = /^This error originated in "(.{1,1000}?)" test file/;
const coverage =
  /^ERROR: (?:Coverage for (\S{1,40}) \(.{0,30}?\) does not meet (.{1,200}?) threshold|Uncovered (\S{1,40}) )/;
const treeFile = /^❯ {1,3}(\S.{0,1000}?) {1,3}(?:\[[\w -]{1,40}\] )?\(\d{1,9} tests?(?: \| .{0,80})?\)/;
const treeSuite = /^❯ (.{1,1000}) \(\d{1,9}\)$/;
const duration = /(?: \((?:retry|repeat) x\d{1,6}\)| \d{1,9}(?:\.\d{1,9})?m?s| \d{1,9} MB heap used)$/;
/** Above what a test prints; the dot reporter's dots stand before it. */
const prints = /^[·x-]{0,4000}std(?:out|err) \| \S/;
const footer = /^(?:Test Files|Tests|Snapshots|Errors|Type Errors|Start at|Duration|Transform|JUNIT report) {1,6}\S/;

interface Listed {
  readonly file: string | null;
  readonly path: readonly string[];
}

interface InTree {
  readonly item: Listed;
  readonly line: string;
  error: string | null;
}

class VitestReader implements LineReader {
  readonly #report: Report;
  /** What the tree says, by its key without an error. */
  readonly #tree = new Map<string, InTree>();
  /** Named by the list of failures, by key without an error. */
  readonly #listed = new Set<string>();
  /** The file, and its project, that the coming lines of the tree belong to. */
  #heads: Listed | null = null;
  #suites: { readonly indent: number; readonly name: string }[] = [];
  #lastInTree: InTree | null = null;
  /** Items of the list whose common error comes in one of the next lines. */
  #waiting: Listed[] = [];
  #line = '';
  /** In what the list says of a failure: code frames, diffs, stacks. */
  #inDetail = false;
  #unhandled: { error: string | null; told: string; readonly kind: string } | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return !this.#inDetail && this.#waiting.length === 0 && this.#unhandled === null && this.#lastInTree === null;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    const opening = banner.exec(text);
    if (opening !== null) {
      this.#settle(null, '');
      this.#report.paths.root(opening[1] as string);
      return 'open';
    }
    if (prints.test(text)) return 'adopt';
    if (text.startsWith('FAIL  ')) return this.#failed(text);
    if (text.startsWith('⎯')) return this.#rule(text);
    if (this.#waiting.length > 0) {
      this.#settle(kindOf(text), text);
      return 'taken';
    }
    if (text.startsWith('ERROR: ')) return this.#coverage(text);
    if (footer.test(text)) return this.#footer(text);
    if (this.#unhandled !== null) return this.#unhandledError(text);
    if (this.#inDetail) return 'taken';
    return this.#inTree(text, line.length - text.length);
  }

  end(): void {
    this.#settle(null, '');
    this.#finishUnhandled();
    for (const [key, { item, line, error }] of this.#tree)
      if (!this.#listed.has(key)) this.#report.failing(testKey({ ...item, error }), line);
  }

  #failed(text: string): Answer {
    // Jest pads its mark to the same width where it prints colours.
    if (!/ > | \[ /.test(text)) return 'pass';
    this.#finishUnhandled();
    this.#inDetail = true;
    const item = this.#item(text.slice(6).trimStart().replace(attempts, ''));
    this.#line = text;
    if (this.#waiting.length < outputLimits.remembered) this.#waiting.push(item);
    return 'open';
  }

  /** `|project| src/a.test.ts > cart > adds`; the project stands between blanks where there are colours. */
  #item(name: string): Listed {
    const [, bars, blanks, plain = name] = labelled.exec(name) ?? [];
    const project = bars ?? blanks;
    const label = project === undefined ? [] : [`|${project.trim()}|`];
    const file = failedFile.exec(plain);
    if (file !== null) return { file: this.#report.paths.short(file[1] as string), path: label };
    const [first = '', ...path] = plain.split(' > ');
    return { file: this.#report.paths.short(first), path: [...label, ...path] };
  }

  #settle(error: string | null, told: string): void {
    for (const item of this.#waiting) {
      if (this.#listed.size < outputLimits.remembered) this.#listed.add(testKey(item));
      this.#report.failing(testKey({ ...item, error }), told === '' ? this.#line : told);
    }
    this.#waiting = [];
  }

  /** A line of `⎯`, with or without a heading in it. */
  #rule(text: string): Answer {
    const title = heading.exec(text)?.[1];
    if (title === undefined && !separator.test(text)) return 'pass';
    this.#settle(null, '');
    this.#finishUnhandled();
    this.#inDetail = false;
    if (title === undefined) return 'taken';
    if (!title.startsWith('Failed ') && title !== 'Unhandled Errors')
      this.#unhandled = { error: null, told: '', kind: title };
    return 'open';
  }

  #unhandledError(text: string): Answer {
    const unhandled = this.#unhandled;
    if (unhandled === null) return 'pass';
    const file = originated.exec(text)?.[1];
    if (file !== undefined) this.#finishUnhandled(file);
    else if (unhandled.told === '') {
      unhandled.told = text;
      unhandled.error = kindOf(text);
    }
    return 'taken';
  }

  #finishUnhandled(file: string | null = null): void {
    const unhandled = this.#unhandled;
    this.#unhandled = null;
    if (unhandled === null || unhandled.told === '') return;
    this.#inDetail = true;
    const { error, kind, told } = unhandled;
    this.#report.failing(
      testKey({ file: file === null ? null : this.#report.paths.short(file), path: [kind], error }),
      told,
    );
  }

  #coverage(text: string): Answer {
    const found = coverage.exec(text);
    if (found === null) return 'pass';
    const [, what, which, uncovered] = found;
    this.#report.failing(`coverage threshold: ${which ?? 'uncovered'} ${what ?? uncovered}`, text);
    return 'taken';
  }

  #footer(text: string): Answer {
    this.#settle(null, '');
    this.#finishUnhandled();
    this.#inDetail = false;
    this.#heads = null;
    return text.startsWith('Duration ') ? 'close' : text.startsWith('Test Files ') ? 'open' : 'taken';
  }

  #inTree(text: string, indent: number): Answer {
    if (text.startsWith('× ')) return this.#failedInTree(text, indent);
    if (text.startsWith('→ ') && this.#lastInTree !== null) {
      this.#lastInTree.error = kindOfMessage(text.slice(2));
      this.#lastInTree = null;
      return 'taken';
    }
    if (text.startsWith('❯ ')) return this.#heading(text, indent);
    return /^[✓↓] /.test(text) ? 'taken' : 'pass';
  }

  #heading(text: string, indent: number): Answer {
    const file = treeFile.exec(text);
    if (file !== null) {
      this.#heads = this.#item(file[1] as string);
      this.#suites = [];
      return 'open';
    }
    const suite = treeSuite.exec(text);
    if (suite === null || this.#heads === null) return 'pass';
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) this.#suites.pop();
    if (this.#suites.length < outputLimits.headings) this.#suites.push({ indent, name: suite[1] as string });
    return 'taken';
  }

  /** Alone under its file and suites, or with its whole path. */
  #failedInTree(text: string, indent: number): Answer {
    let name = text.slice(2);
    while (duration.test(name)) name = name.replace(duration, '');
    const whole = indent <= 1;
    if (whole ? !/^(?:\|[^|]{1,100}\| )?\S{1,400}\.\w{1,10} > /.test(name) : this.#heads === null || indent < 3)
      return 'pass';
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) this.#suites.pop();
    const item = whole
      ? this.#item(name)
      : {
          file: this.#heads?.file ?? null,
          path: [...(this.#heads?.path ?? []), ...this.#suites.map((suite) => suite.name), ...name.split(' > ')],
        };
    this.#lastInTree = { item, line: text, error: null };
    if (this.#tree.size < outputLimits.remembered) this.#tree.set(testKey(item), this.#lastInTree);
    return 'open';
  }
}

function kindOf(line: string): string | null {
  return /^(?:\w{0,40}Timeout)?Error: (?:Test|Hook) timed out in /.test(line) ? 'timeout' : errorKind(line);
}

/** The tree prints an error's message without its class: some messages tell it. */
function kindOfMessage(message: string): string | null {
  if (/^(?:Test|Hook) timed out in /.test(message)) return 'timeout';
  if (/^expected .{0,2000} to /.test(message)) return 'AssertionError';
  if (/^Cannot (?:read|set) properties of |is not (?:a function|iterable)$/.test(message)) return 'TypeError';
  return message.endsWith(' is not defined') ? 'ReferenceError' : null;
}

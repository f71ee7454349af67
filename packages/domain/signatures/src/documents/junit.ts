import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from '../readers/keys.ts';
import type { Report } from '../readers/reader.ts';
import type { DocumentFormat, DocumentReader, DocumentState } from './document.ts';
import { XmlScanner } from './xml-scanner.ts';

/** JUnit XML as Ant, Surefire, pytest, node:test, vitest, GoogleTest and others write it. */
export const junit: DocumentFormat = {
  begins: (text) => text.startsWith('<?xml') || text.startsWith('<testsuite'),
  start: (report) => new JUnitReader(report('junit')),
};

interface Suite {
  readonly name: string;
  readonly file: string | null;
}

interface Case {
  readonly name: string;
  readonly className: string;
  readonly file: string | null;
  /** Not run, or expected to fail. */
  isSkipped?: boolean;
  /** How it failed; `undefined` = it did not. */
  how?: { type: string; message: string; text: string | null };
}

class JUnitReader implements DocumentReader {
  readonly #report: Report;
  readonly #suites: Suite[] = [];
  #root: string | null = null;
  #nested = 0;
  #read = 0;
  #case: Case | null = null;
  #inside = false;
  #state: DocumentState = 'undecided';
  readonly #xml = new XmlScanner({
    open: (name, attributes) => this.#open(name, attributes),
    text: (text) => this.#text(text),
    close: (name) => this.#close(name),
  });

  constructor(report: Report) {
    this.#report = report;
  }

  get isOfTests(): boolean {
    return true;
  }

  write(piece: string): DocumentState {
    this.#read += piece.length;
    this.#xml.write(piece);
    if (this.#state === 'undecided' && this.#read > outputLimits.undecidedChars) this.#state = 'foreign';
    return this.#state;
  }

  end(): void {
    this.#settle();
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#root === null) {
      this.#state = name.startsWith('testsuite') ? 'reading' : 'foreign';
      this.#root = name;
    }
    if (name === this.#root) this.#nested += 1;
    const file = attributes.get('file') ?? attributes.get('filepath') ?? null;
    if (name === 'testsuite') {
      if (this.#suites.length < outputLimits.headings)
        this.#suites.push({ name: suiteNamed(attributes.get('name') ?? ''), file });
    } else if (name === 'testcase') {
      this.#settle();
      this.#case = { name: attributes.get('name') ?? '', className: attributes.get('classname') ?? '', file };
    } else if (name === 'skipped' && this.#case !== null) this.#case.isSkipped = true;
    else if ((name === 'failure' || name === 'error') && this.#case !== null) {
      const [type, message] = [attributes.get('type') ?? '', attributes.get('message') ?? ''];
      this.#case.how ??= { type, message, text: null };
      this.#inside = true;
    }
  }

  #text(text: string): void {
    const how = this.#case?.how;
    if (this.#inside && how !== undefined) how.text ??= text.trimStart();
  }

  #close(name: string): void {
    if (name === 'failure' || name === 'error') this.#inside = false;
    else if (name === 'testcase') this.#settle();
    else if (name === 'testsuite') this.#suites.pop();
    if (name !== this.#root) return;
    this.#nested -= 1;
    if (this.#nested <= 0) this.#state = 'done';
  }

  #settle(): void {
    const test = this.#case;
    this.#case = null;
    this.#inside = false;
    if (test?.how === undefined || test.isSkipped) return;
    const said = test.file ?? this.#suites.findLast((suite) => suite.file !== null)?.file ?? null;
    const file = said === null ? null : this.#report.paths.short(said);
    const suites = this.#suites.map((suite) => this.#plain(suite.name));
    const path = pathOf(suites, this.#plain(test.className), this.#plain(test.name)).filter((name) => name !== file);
    const first = firstLine(test.how.message === '' ? (test.how.text ?? '') : test.how.message);
    this.#report.failing(testKey({ file, path, error: errorOf(test.how) }), first === '' ? test.name : first);
  }

  /** Some write a file's path where a suite's name is expected. */
  #plain(name: string): string {
    return /[\\/]/.test(name) && /\.\w{1,9}$/.test(name) ? this.#report.paths.short(name) : name;
  }
}

/** The class name mostly says again, or says more exactly, what the suites around the test say. */
function pathOf(suites: readonly string[], className: string, name: string): string[] {
  const says = className === 'test' ? '' : className;
  const isRepeated = says === '' || says === suites.join('.') || says === suites.join(' ') || says === suites.at(-1);
  if (isRepeated) return [...suites, name];
  return [...suites.filter((suite) => suite !== '' && !says.startsWith(suite)), ...(name === says ? [] : [says]), name];
}

/** Mocha's name for all that ran is nobody's suite. */
const suiteNamed = (name: string): string => (name === 'Mocha Tests' ? '' : name);

const firstLine = (text: string): string => text.split('\n', 1)[0] as string;

function errorOf({ type, message, text }: NonNullable<Case['how']>): string | null {
  if (type === 'testTimeoutFailure') return 'timeout';
  // node:test wraps what was thrown.
  const cause = /\bcause: (.{1,400})/.exec(text ?? '')?.[1];
  if (cause !== undefined) return errorKind(cause);
  const own = type.endsWith('Failure') && /^[a-z]/.test(type) ? '' : type;
  // Mocha tells the class below the message only.
  const thrown =
    type === '' && message === '' ? /^[A-Z]\w{0,60}(?:Error|Exception)\b.{0,200}/m.exec(text ?? '')?.[0] : undefined;
  if (thrown !== undefined) return errorKind(thrown);
  return errorKind(`${own}: ${firstLine(message === '' ? (text ?? '') : message)}`);
}

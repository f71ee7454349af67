import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * AVA's default reporter. Every failing test stands in the tree (`✘ [fail]: cart › adds`, with the message behind the
 * title) and again below, where title and error are told apart. A title begins with its file's name where several
 * files ran.
 */
export const ava: ToolReader = {
  tool: 'ava',
  opens: [
    '^✘ [fail]: ',
    '^✖ [fail]: ',
    '^Uncaught exception in ',
    '^Unhandled rejection in ',
    '^✘ ',
    '^✖ Timed out',
    '^─',
  ],
  start: (report) => new AvaReader(report),
};

const inTree = /^[✘✖] \[fail\]: (.{1,3000})$/;
const troubles = /^(Uncaught exception|Unhandled rejection) in (\S.{0,1000})$/;
const fileFailed =
  /^[✘✖] (?:(\S{1,1000}) exited (?:with a non-zero exit code: \d{1,9}|due to \w{1,20})|No tests found in (\S{1,1000})(?:,.{0,200})?)$/;
const pending = /^◌ (.{1,3000})$/;
const counts =
  /^\d{1,9} (?:tests?|hooks?|known failures?|uncaught exceptions?|unhandled rejections?|previous failures?).{0,60}$/;
const knownMessages =
  / (?:Rejected promise returned by test|Test finished without .{1,60}|Error thrown in test|Returned promise rejected .{0,60})$/;

class AvaReader implements LineReader {
  readonly #report: Report;
  #sure = false;
  /** Lines of the tree whose details have not come: title with or without a message behind it. */
  readonly #tree = new Map<string, string>();
  readonly #filesThatFailed = new Map<string, string>();
  readonly #told = new Set<string>();
  #inList = false;
  #title: string | null = null;
  #error: string | null = null;
  #sawDifference = false;
  #trouble: { readonly kind: string; readonly file: string } | null = null;
  #blanks = 0;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') {
      this.#blanks += 1;
      return this.#sure ? 'taken' : 'pass';
    }
    const blanks = this.#blanks;
    this.#blanks = 0;
    const indent = line.length - text.length;
    if (this.#trouble !== null) return this.#troubleSaid(text);
    const failed = inTree.exec(text)?.[1];
    if (failed !== undefined) return this.#failedInTree(failed, text);
    const trouble = troubles.exec(text);
    if (trouble !== null) return this.#troubled(trouble[1] as string, trouble[2] as string);
    const file = fileFailed.exec(text);
    if (file !== null) return this.#fileFailed(file, text);
    if (/^[✘✖] Timed out while running tests$/.test(text)) return this.#begin();
    if (!this.#sure) return 'pass';
    return this.#inSession(text, indent, blanks);
  }

  end(): void {
    this.#settle();
    for (const [title, line] of this.#tree) this.#report.failing(testKey({ path: title.split(' › ') }), line);
    for (const [file, line] of this.#filesThatFailed)
      if (!this.#told.has(file)) this.#report.failing(testKey({ file, path: [] }), line);
  }

  #begin(): Answer {
    this.#sure = true;
    return 'adopt';
  }

  #failedInTree(said: string, text: string): Answer {
    if (this.#tree.size < outputLimits.remembered) this.#tree.set(said.replace(knownMessages, ''), text);
    return this.#begin();
  }

  #troubled(kind: string, path: string): Answer {
    this.#settle();
    this.#trouble = { kind, file: this.#report.paths.short(path) };
    return this.#begin();
  }

  /** The first line that is no place and no code frame is the error. */
  #troubleSaid(text: string): Answer {
    const trouble = this.#trouble;
    if (trouble === null) return 'pass';
    if (/^(?:\d{1,9}:(?: |$)|\S{1,1000}:\d{1,9}$)/.test(text)) return 'taken';
    this.#trouble = null;
    const error = errorKind(text);
    // An exception while a file is loaded is the file's failure; a rejection belongs to no test.
    const path = trouble.kind === 'Unhandled rejection' ? [trouble.kind] : [];
    if (this.#told.size < outputLimits.remembered) this.#told.add(trouble.file);
    this.#report.failing(testKey({ file: trouble.file, path, error }), text);
    return 'taken';
  }

  #fileFailed(found: RegExpExecArray, text: string): Answer {
    const file = this.#report.paths.short((found[1] ?? found[2]) as string);
    if (this.#filesThatFailed.size < outputLimits.remembered) this.#filesThatFailed.set(file, text);
    return this.#begin();
  }

  #inSession(text: string, indent: number, blanks: number): Answer {
    if (/^─{1,200}$/.test(text)) {
      this.#settle();
      this.#inList = true;
      this.#title = null;
      return 'taken';
    }
    const late = pending.exec(text)?.[1];
    if (late !== undefined) {
      this.#report.failing(testKey({ path: late.split(' › '), error: 'timeout' }), text);
      return 'taken';
    }
    if (/^[✔✓﹣] /.test(text)) return 'taken';
    if (!this.#inList) return 'pass';
    if (counts.test(text)) {
      this.#settle();
      return 'taken';
    }
    return this.#listed(text, indent, blanks);
  }

  /** A title stands alone, two or more blank lines after what was before, or right below the rule. */
  #listed(text: string, indent: number, blanks: number): Answer {
    if (indent === 2 && (this.#title === null || blanks >= 2) && this.#isTitle(text)) {
      this.#settle();
      this.#title = text;
      return 'taken';
    }
    if (indent === 0) {
      // Nothing of the list stands there: a part of it was cut off, or it is over.
      this.#settle();
      return 'pass';
    }
    if (this.#title === null) return 'taken';
    if (/^Difference |^Value |^Expected |^Assertion /.test(text)) this.#sawDifference = true;
    if (indent === 2 && this.#error === null && /^(?:Uncaught )?\w{1,100}(?: \[\w{1,60}\])?: /.test(text))
      this.#error = errorKind(text);
    return 'taken';
  }

  #isTitle(text: string): boolean {
    if (this.#tree.has(text)) return true;
    for (const title of this.#tree.keys()) if (title.startsWith(`${text} `)) return true;
    return this.#tree.size === 0 || text.includes(' › ');
  }

  #settle(): void {
    const title = this.#title;
    if (title !== null) {
      for (const said of this.#tree.keys()) if (said === title || said.startsWith(`${title} `)) this.#tree.delete(said);
      const error = this.#error ?? (this.#sawDifference ? 'AssertionError' : null);
      this.#report.failing(testKey({ path: title.split(' › '), error }), title);
    }
    this.#title = null;
    this.#error = null;
    this.#sawDifference = false;
  }
}

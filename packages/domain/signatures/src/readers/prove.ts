import { outputLimits } from '../limits.ts';
import { testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * prove and Test::More. What Test::More says of a failing test names it and its file; prove's own summary has numbers
 * alone, so of it only a script that broke without a failing test is an item.
 */
export const prove: ToolReader = {
  tool: 'prove',
  opens: [
    '^#   Failed test',
    '^#   at ',
    '^#   Failed (TODO)',
    ' (Wstat: ',
    '^Failed ',
    '^Dubious, test returned',
    '^Test Summary Report',
    '^Result: ',
    '^# Looks like you',
    '.t .',
    '^not ok ',
    '^ok ',
  ],
  passing: [['ok ', '']],
  start: (report) => new ProveReader(report),
};

const failing = /^# {3}Failed test(?: '(.{1,600})')?(?: at (\S.{0,300}?) line \d{1,7}\.)?$/;
const at = /^# {3}at (\S.{0,300}?) line \d{1,7}\.$/;
const script = /^(\S{1,300}\.t) \.{2,300} ?(?:ok|skipped.{0,200})?(?: {1,10}\d{1,9} ms.{0,80})?$/;
const inSummary =
  /^(\S{1,300}) {1,40}\(Wstat: \d{1,7}(?: \((?:exited (\d{1,3})|Signal: (\w{1,20}).{0,30})\))? Tests: \d{1,9} Failed: (\d{1,9})\)$/;
const verbose = /^not ok \d{1,9}(?: - (.{1,600}))?$/;

class ProveReader implements LineReader {
  readonly #report: Report;
  #test: { name: string; indent: number; line: string } | null = null;
  /** Failing tests inside a subtest whose own name comes after them. */
  #inner: { path: string[]; file: string; indent: number; line: string }[] = [];
  #script: string | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return this.#script !== null && this.#test === null;
  }

  take(line: string, text: string): Answer {
    const indent = line.length - text.length;
    if (this.#test !== null) {
      const place = at.exec(text);
      if (place !== null) return this.#placed(place[1] as string);
      this.#test = null;
    }
    const test = failing.exec(text);
    if (test !== null) {
      this.#test = { name: test[1] ?? '(unnamed)', indent, line: text };
      return test[2] === undefined ? 'hold' : this.#placed(test[2]);
    }
    const begun = script.exec(line)?.[1];
    if (begun !== undefined) {
      this.#script = this.#report.paths.short(begun);
      return 'open';
    }
    return this.#verbose(text, indent) ?? this.#summary(text);
  }

  end(): void {
    this.#settle();
  }

  #placed(path: string): Answer {
    const test = this.#test;
    this.#test = null;
    if (test !== null) this.#add(test.name, this.#report.paths.short(path), test.indent, test.line);
    return 'adopt';
  }

  /** A subtest fails with its tests: its name goes before theirs. */
  #add(name: string, file: string, indent: number, line: string): void {
    const inside = this.#inner.filter((other) => other.indent > indent);
    if (inside.length > 0) {
      for (const other of inside) {
        other.path.unshift(name);
        other.indent = indent;
      }
      if (indent === 0) this.#settle();
      return;
    }
    if (indent === 0) this.#report.failing(testKey({ file, path: [name] }), line);
    else if (this.#inner.length < outputLimits.remembered) this.#inner.push({ path: [name], file, indent, line });
  }

  #settle(): void {
    for (const { file, path, line } of this.#inner) this.#report.failing(testKey({ file, path }), line);
    this.#inner = [];
  }

  /** Below `t/cart.t ..` stands the script's TAP. */
  #verbose(text: string, indent: number): Answer | null {
    if (this.#script === null) return null;
    const test = verbose.exec(text);
    if (test !== null && !/ # (?:TODO|skip)/i.test(text)) {
      this.#add(test[1] ?? '(unnamed)', this.#script, indent, text);
      return 'taken';
    }
    return /^(?:not )?ok\b|^\d{1,7}\.\.\d{1,7}|^# (?:Subtest: |Looks like)|^# {3}(?:Failed \(TODO\)|at )/.test(text)
      ? 'taken'
      : null;
  }

  #summary(text: string): Answer {
    const found = inSummary.exec(text);
    if (found !== null) {
      const file = this.#report.paths.short(found[1] as string);
      const how =
        found[3] !== undefined ? `signal ${found[3]}` : found[2] !== undefined ? `exited ${found[2]}` : 'failed';
      if (found[4] === '0') this.#report.failing(testKey({ path: [file], error: how }), text);
      else this.#report.wrapping(testKey({ path: [file] }), text);
      return 'taken';
    }
    if (/^Result: [A-Z]{2,10}$/.test(text)) return 'close';
    return /^(?:Failed \d{1,9}\/\d{1,9} subtests|Dubious, test returned|Test Summary Report$|# Looks like you|# {3}Failed \(TODO\)|# {3}at )/.test(
      text,
    )
      ? 'taken'
      : 'pass';
  }
}

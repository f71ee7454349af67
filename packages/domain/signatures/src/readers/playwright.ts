import { outputLimits } from '../limits.ts';
import { errorKind, testKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * Playwright Test's list, line and dot reporters: `1) [project] › file:4:1 › suite › test ───`, the error below, and a
 * list of the failed ones at the end. A test that passed in a retry is flaky there, not failed.
 */
export const playwright: ToolReader = {
  tool: 'playwright',
  opens: [' workers', 'using 1 worker', ' › ', '^✘ '],
  start: (report) => new PlaywrightReader(report),
};

const banner = /^Running \d{1,9} tests? using \d{1,9} workers?(?:, shard \d{1,9} of \d{1,9})?$/;
const item = /^(?:\d{1,9}\) )?(?:\[([^\]]{1,100})\] › )?(\S.{0,1000}?):\d{1,9}:\d{1,9} › (.{1,3000})$/;
const inTree = /^(✘|✓|-|±|ok|x) {1,4}\d{1,9} (.{1,4000}?)(?: \(retry #\d{1,6}\))?(?: \(\d[\d.]{0,12}(?:ms|s|m|h)\))?$/;
const counts = /^\d{1,9} (failed|flaky|interrupted|skipped|did not run|passed)(?: \(.{1,20}\))?$/;
const rule = / ─{1,200}$/;

interface Listed {
  readonly file: string;
  readonly path: readonly string[];
}

class PlaywrightReader implements LineReader {
  readonly #report: Report;
  #sure = false;
  #waiting: Listed | null = null;
  #inDetail = false;
  /** In the closing list: which group. */
  #group: string | null = null;
  readonly #errors = new Map<string, { readonly item: Listed; readonly error: string | null; readonly told: string }>();
  readonly #closing = new Map<string, Listed>();
  readonly #tree = new Map<string, { readonly item: Listed; readonly line: string }>();
  #flaky = new Set<string>();

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    if (banner.test(text)) {
      this.#sure = true;
      return 'open';
    }
    const indent = line.length - text.length;
    if (/^\d{1,9}\) /.test(text) && indent === 2) return this.#detail(text);
    const counted = counts.exec(text)?.[1];
    if (counted !== undefined && this.#sure && indent === 2) return this.#count(counted);
    if (this.#group !== null) return this.#inGroup(text, indent);
    if (this.#waiting !== null) return this.#message(text);
    if (this.#inDetail && indent >= 4) return 'taken';
    return this.#sure ? this.#inTree(text) : 'pass';
  }

  /** The closing list says what failed in the end; without it, what had details and did not pass later. */
  end(): void {
    const failed = new Map<string, Listed>(this.#closing);
    if (this.#closing.size === 0) {
      for (const [key, { item: named }] of this.#errors) if (!this.#flaky.has(key)) failed.set(key, named);
      for (const [key, { item: named }] of this.#tree) failed.set(key, named);
    }
    for (const [key, named] of failed) {
      const known = this.#errors.get(key);
      this.#report.failing(testKey({ ...named, error: known?.error ?? null }), known?.told ?? key);
    }
  }

  #item(text: string): Listed | null {
    const found = item.exec(text.replace(rule, ''));
    if (found === null) return null;
    const [, project, path = '', names = ''] = found;
    const parts = names.replace(/ @[\w@ -]{1,200}$/, '').split(' › ');
    return { file: this.#report.paths.short(path), path: project === undefined ? parts : [`[${project}]`, ...parts] };
  }

  #detail(text: string): Answer {
    const named = this.#item(text);
    if (named === null) return 'pass';
    this.#waiting = named;
    this.#inDetail = true;
    this.#group = null;
    this.#sure = true;
    return 'adopt';
  }

  #message(text: string): Answer {
    if (/^Retry #\d/.test(text)) return 'taken';
    const named = this.#waiting;
    this.#waiting = null;
    if (named === null) return 'pass';
    const key = testKey(named);
    const timeout = /^(?:Error: )?Test timeout of \d{1,12}ms exceeded/.test(text);
    if (!this.#errors.has(key) && this.#errors.size < outputLimits.remembered)
      this.#errors.set(key, { item: named, error: timeout ? 'timeout' : kindOf(text), told: text });
    return 'taken';
  }

  #count(group: string): Answer {
    this.#inDetail = false;
    this.#waiting = null;
    this.#group = group;
    return group === 'passed' ? 'close' : 'taken';
  }

  #inGroup(text: string, indent: number): Answer {
    const named = indent === 4 ? this.#item(text) : null;
    if (named === null) {
      this.#group = null;
      return this.#inTree(text);
    }
    const key = testKey(named);
    if (this.#group === 'failed' || this.#group === 'interrupted') {
      if (this.#closing.size < outputLimits.remembered) this.#closing.set(key, named);
    } else if (this.#flaky.size < outputLimits.remembered) this.#flaky.add(key);
    return 'taken';
  }

  #inTree(text: string): Answer {
    const found = inTree.exec(text);
    if (found === null) return 'pass';
    const named = this.#item(found[2] as string);
    if (named === null) return 'pass';
    const key = testKey(named);
    if (found[1] === '✘' || found[1] === 'x') {
      if (this.#tree.size < outputLimits.remembered) this.#tree.set(key, { item: named, line: text });
    } else {
      this.#tree.delete(key);
      if (this.#flaky.size < outputLimits.remembered) this.#flaky.add(key);
    }
    return 'taken';
  }
}

/** The message of an `expect` may quote a class. */
const kindOf = (line: string): string | null => (/^(?:Error: )?expect\(/.test(line) ? null : errorKind(line));

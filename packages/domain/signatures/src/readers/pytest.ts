import { outputLimits } from '../limits.ts';
import { Remembered } from './diagnostics.ts';
import { testKey } from './keys.ts';
import { errorOf, PytestSection } from './pytest-section.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * pytest. The summary, the sections with the tracebacks and the verbose list name the same tests, each in its own way:
 * `tests/a.py::TestItem::test_x`, `___ TestItem.test_x ___`, `tests/a.py::TestItem::test_x FAILED [ 5%]`. They are joined
 * by name at the end, so that any of them may be missing. The section knows the error best: a summary is cut where the
 * terminal ends.
 */
export const pytest: ToolReader = {
  tool: 'pytest',
  opens: [
    '===',
    '___ ',
    '^FAILED ',
    '^ERROR ',
    '^ERROR: ',
    '^SUBFAIL',
    ' FAILED',
    ' ERROR',
    ...Array.from({ length: 10 }, (_, digit) => ` in ${digit}`),
    '^rootdir: ',
    '^[gw',
    '::',
    '^ImportError while loading conftest',
    '^pytest: error: ',
    ': error: unrecognized',
    '^Fatal Python error: ',
    '^FAIL Required test coverage',
  ],
  start: (report) => new PytestReader(report),
};

const banner = /^={3,300} (.{1,200}?) ={3,300}$/;
const counts =
  /^(?:=+ )?(?:\d{1,9} (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun)(?:, )?){1,9} in [\d.]{1,12}s(?: \([\d:]{1,20}\))?(?: =+)?$/;
const heading = /^_{3,300} (.{1,300}?) _{3,300}$/;
const summary =
  /^(FAILED|ERROR|SUBFAIL(?:ED)?)((?:\[|\()(?:.{1,200}?))? ([^\s([].{0,400}\.(?:py|txt|rst|md|ipynb)(?:::.{1,400})?)$/;
const verbose =
  /^(\S.{0,200}?\.py(?:::.{1,400}?)?) (FAILED|ERROR|SUBFAIL(?:ED)?)(?: .{0,80})?(?: {1,80}\[ {0,2}\d{1,3}%\])?$/;
/** Most lines of most verbose runs. */
const passed = /^[\w./-]{1,300}\.py::\S[^ ]{0,400} PASSED {1,80}\[ {0,2}\d{1,3}%\]$/;
/** What stands in each line that means something while tests run. */
const perhapsOwn = /^[=_[]|FAIL|ERR|[Ee]rror|\.py| in \d|^rootdir: /;
const worker = /^\[gw\d{1,4}\] \[ {0,2}\d{1,3}%\] (FAILED|ERROR) (\S.{0,600})$/;
const stackFrame = /^File "(.{1,400})", line \d{1,7} in (\w{1,200})$/;

interface Item {
  readonly path: string[];
  readonly kind: string;
  error: string | null;
  readonly line: string;
}

class PytestReader implements LineReader {
  readonly #report: Report;
  #part: 'running' | 'sections' | 'summary' | 'other' = 'running';
  #summarised = false;
  readonly #items = new Remembered<Item>(outputLimits.remembered);
  readonly #early = new Remembered<Item>(outputLimits.remembered);
  readonly #sections: PytestSection[] = [];
  #section: PytestSection | null = null;
  #crash: { error: string; running: string | null; found: boolean } | null = null;
  #last: string | null = null;
  #conftest: PytestSection | null = null;
  /** Items that no section was about yet: by their names, then by their files. */
  readonly #byName = new Map<string, Map<string | null, Item>>();
  #root: string[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  get isWaiting(): boolean {
    return this.#part === 'running' && this.#crash === null && this.#conftest === null;
  }

  take(line: string, text: string): Answer {
    if (text === '') return 'pass';
    if (this.isWaiting) {
      if (passed.test(line)) {
        this.#last = line;
        return 'adopt';
      }
      if (!perhapsOwn.test(line)) return 'pass';
    }
    const part = line.startsWith('=') ? this.#banner(line) : counts.test(line) ? this.#over() : null;
    if (part !== null) return part;
    if (this.#conftest !== null && this.#inConftest(line, text)) return 'taken';
    if (this.#part === 'sections') return this.#inSections(line, text);
    if (this.#crash !== null && this.#stack(text)) return 'taken';
    return this.#summary(line) ?? this.#crashed(line) ?? this.#running(line) ?? this.#own(line);
  }

  end(): void {
    const conftest = this.#conftest;
    if (conftest !== null)
      this.#fails([this.#report.paths.short(conftest.file ?? conftest.name)], 'ERROR', conftest.error, conftest.name);
    if (!this.#summarised) for (const [id, item] of this.#early) if (!this.#items.has(id)) this.#items.set(id, item);
    for (const [, item] of this.#items) this.#index(item);
    for (const section of this.#sections) this.#join(section);
    const subtested = new Set(
      [...this.#items]
        .filter(([, item]) => item.kind === 'SUBFAILED')
        .map(([, item]) => item.path.slice(0, -1).join('::')),
    );
    for (const [, item] of this.#items) {
      if (item.kind === 'subtests' && subtested.has(item.path.join('::'))) continue;
      this.#report.failing(testKey({ path: item.path, error: item.error }), item.line);
    }
  }

  #banner(line: string): Answer | null {
    if (counts.test(line)) return this.#over();
    const title = banner.exec(line)?.[1];
    if (title === undefined) return null;
    this.#section = null;
    if (title === 'FAILURES' || title === 'ERRORS' || title.startsWith('RERUNS'))
      this.#part = title.startsWith('RERUNS') ? 'other' : 'sections';
    else if (title === 'short test summary info') {
      this.#part = 'summary';
      this.#summarised = true;
    } else if (title === 'test session starts') this.#part = 'running';
    else this.#part = 'other';
    return 'open';
  }

  #over(): Answer {
    this.#part = 'running';
    return 'close';
  }

  #inSections(line: string, text: string): Answer {
    const title = heading.exec(line)?.[1];
    if (title !== undefined) {
      this.#section = new PytestSection(title);
      if (this.#sections.length < outputLimits.remembered) this.#sections.push(this.#section);
    } else this.#section?.take(line, text);
    if (line.startsWith('rootdir: /')) this.#report.paths.root(line.slice(9));
    return 'taken';
  }

  #summary(line: string): Answer | null {
    if (!/^(?:FAILED|ERROR|SUBFAIL)/.test(line)) return null;
    const cut = line.indexOf(' - ', line.lastIndexOf('.py') > 0 ? line.indexOf('.py') : 0);
    const named = splitReason(line, cut);
    const found = summary.exec(named.id);
    if (found === null) return null;
    const kind = (found[1] as string).startsWith('SUBFAIL') ? 'SUBFAILED' : (found[1] as string);
    const path = this.#path(found[3] as string);
    if (found[2] !== undefined) path.push(found[2]);
    else if (kind === 'SUBFAILED') return 'taken';
    const whole = /^contains \d{1,6} failed subtests?$/.test(named.reason);
    this.#remember(path, whole ? 'subtests' : kind, errorOf(named.reason), line);
    return 'taken';
  }

  #remember(path: string[], kind: string, error: string | null, line: string): void {
    const into = this.#part === 'summary' ? this.#items : this.#early;
    const id = `${kind === 'ERROR' ? 'ERROR ' : ''}${path.join('::')}`;
    into.set(id, { path, kind, error: error ?? into.get(id)?.error ?? null, line });
  }

  #running(line: string): Answer | null {
    const far = worker.exec(line);
    const found = far === null ? verbose.exec(line) : null;
    const id = far?.[2] ?? found?.[1];
    if (id === undefined) {
      if (/^\S{1,300}\.py::\S/.test(line)) this.#last = line;
      return this.#last === line || / (?:PASSED|XFAIL|XPASS|SKIPPED)\b/.test(line) ? this.#passed(line) : null;
    }
    const kind = (far?.[1] ?? found?.[2]) as string;
    if (!kind.startsWith('SUB')) {
      const path = this.#path(id);
      const key = `${kind === 'ERROR' ? 'ERROR ' : ''}${path.join('::')}`;
      if (!this.#items.has(key)) this.#items.set(key, { path, kind, error: null, line });
    }
    return 'adopt';
  }

  #passed(line: string): Answer | null {
    return /\.py(?:::| )/.test(line) ? 'adopt' : null;
  }

  #crashed(line: string): Answer | null {
    const crash = /(?:^|\s|\w)Fatal Python error: (.{1,80})$/.exec(line)?.[1];
    if (crash !== undefined) {
      const id = /^(\S{1,300}\.py::.{1,300}?) Fatal Python error: /.exec(line)?.[1] ?? null;
      this.#crash = { error: crash, running: id, found: false };
      return 'open';
    }
    return null;
  }

  /** What pytest says outside of any test. */
  #own(line: string): Answer {
    const missing = /^ERROR: (?:not found|file or directory not found): (.{1,600})$/.exec(line)?.[1];
    if (missing !== undefined) return this.#fails(this.#path(missing), 'ERROR', 'not found', line);
    const conftest = /^ImportError while loading conftest '(.{1,400})'\.$/.exec(line)?.[1];
    if (conftest !== undefined) {
      this.#conftest = new PytestSection(conftest);
      return 'open';
    }
    const usage = /^(?:\S{0,200}: error|ERROR): (unrecognized arguments: .{1,300}|usage: .{1,300})$/.exec(line)?.[1];
    if (usage?.startsWith('unrecognized')) return this.#fails([usage], 'ERROR', null, line);
    if (usage !== undefined) return 'taken';
    if (/^FAIL Required test coverage|^ERROR: Coverage failure:/.test(line))
      return this.#fails(['coverage below the required'], 'ERROR', null, line);
    if (/^(?:rootdir: )\//.test(line)) {
      const folder = /^rootdir: ([^,]{1,400})/.exec(line)?.[1];
      if (folder !== undefined) this.#report.paths.root(folder.trim());
      this.#root = folder?.trim().split('/') ?? [];
      return 'open';
    }
    return 'pass';
  }

  #fails(path: string[], kind: string, error: string | null, line: string): Answer {
    this.#items.set(path.join('::'), { path, kind, error, line });
    return 'taken';
  }

  /** Of the crashing thread's stack the last frame before pytest's own is the test. */
  #stack(text: string): boolean {
    const crash = this.#crash;
    if (crash === null) return false;
    const frame = stackFrame.exec(text);
    if (frame === null) return /^(?:Current thread|Thread) 0x/.test(text);
    const [, file, name] = frame as unknown as [string, string, string];
    if (/[\\/]_pytest[\\/]/.test(file)) crash.found = crash.found || this.#last !== null;
    else if (name.startsWith('test') && !crash.found) {
      const path = crash.running !== null ? this.#path(crash.running) : [this.#report.paths.short(file), name];
      this.#items.set(path.join('::'), { path, kind: 'FAILED', error: crash.error, line: crash.error });
      crash.found = true;
    }
    return true;
  }

  #inConftest(line: string, text: string): boolean {
    const own = line !== text || /^(?:E {3}|\S{1,300}:\d{1,7}: )/.test(line);
    if (own) this.#conftest?.take(line, text);
    return own;
  }

  #path(id: string): string[] {
    const open = id.indexOf('[');
    const plain = open === -1 ? id : id.slice(0, open);
    const [file = '', ...names] = plain.split('::');
    if (open !== -1 && names.length > 0) names[names.length - 1] += id.slice(open);
    return [this.#report.paths.short(this.#belowRoot(file)), ...names];
  }

  /** Run from above the root, pytest names files from there: `work/shop/tests/a.py` below `/home/me/work/shop`. */
  #belowRoot(file: string): string {
    const parts = file.split('/');
    for (let most = Math.min(parts.length - 1, this.#root.length); most >= 2; most -= 1)
      if (this.#root.slice(-most).join('/') === parts.slice(0, most).join('/')) return parts.slice(most).join('/');
    return file;
  }

  #index(item: Item): void {
    const isFile = item.path.length === 1;
    const name = nameOf(isFile, item.kind, isFile ? item.path : item.path.slice(1));
    const named = this.#byName.get(name) ?? new Map<string | null, Item>();
    named.set(item.path[0] ?? null, item);
    this.#byName.set(name, named);
  }

  /** A section gives its error to the item it is about, or makes one where nothing else named the test. */
  #join(section: PytestSection): void {
    if (section.setUp) return this.#joinTo(section, 'ERROR');
    this.#joinTo(section, 'FAILED');
  }

  #joinTo(section: PytestSection, kind: string): void {
    const file = section.file === null ? null : this.#report.paths.short(this.#belowRoot(section.file));
    const wanted = section.collecting ? [this.#report.paths.short(section.name)] : section.names();
    const named = this.#byName.get(nameOf(section.collecting, kind, wanted));
    const item = named?.get(file) ?? (named?.size === 1 ? [...named.values()][0] : undefined);
    if (item !== undefined) {
      item.error ??= section.error;
      named?.delete(item.path[0] ?? null);
      return;
    }
    if (section.name.endsWith('.py') && !section.collecting) return;
    const path = section.collecting || file === null ? wanted : [file, ...wanted];
    const id = `${kind === 'ERROR' ? 'ERROR ' : ''}${path.join('::')}`;
    if (this.#items.has(id)) return;
    const as = section.subtest ? 'SUBFAILED' : section.ofSubtests ? 'subtests' : kind;
    const made: Item = { path, kind: as, error: section.error, line: section.name };
    this.#items.set(id, made);
  }
}

/** The reason stands behind the id, which may hold ` - ` itself inside its brackets. */
function splitReason(line: string, from: number): { id: string; reason: string } {
  let cut = from;
  while (cut !== -1) {
    const id = line.slice(0, cut);
    if (count(id, '[') === count(id, ']')) return { id, reason: line.slice(cut + 3) };
    cut = line.indexOf(' - ', cut + 3);
  }
  return { id: line, reason: '' };
}

const nameOf = (isFile: boolean, kind: string, names: readonly string[]): string =>
  `${isFile ? 'file' : 'test'} ${kind === 'ERROR' ? 'ERROR' : ''} ${names.join('::')}`;

const count = (text: string, what: string): number => text.split(what).length - 1;

import { outputLimits } from '../limits.ts';
import { errorKind, ruleKey, symbolsIn, testKey } from '../readers/keys.ts';
import type { Report } from '../readers/reader.ts';
import { KeySet } from '../reading/key-set.ts';
import type { DocumentFormat, DocumentReader, DocumentState } from './document.ts';
import { diagnosticsReport, jestReport, mochaReport, type ReportObject } from './javascript-reports.ts';
import { isObject, type JsonObject, JsonScanner, type JsonValue, listOf, textOf } from './json-scanner.ts';

/** SARIF 2.1, CTRF and the reports of some tools. Which it is, is told by a member of the outermost object. */
export const jsonReports: DocumentFormat = {
  begins: (text) => /^\{(?:$|\s{0,9}")/.test(text) && !isLogged(text),
  start: (report) => new JsonReportReader(report),
};

/** A whole object in one line without a member that reports have: what a program logs. */
const isLogged = (line: string): boolean =>
  line.endsWith('}') && !/"(?:runs|reportFormat|results|testResults|stats|diagnostics)"/.test(line);

interface ReportKind {
  object(value: JsonObject, place: string | null): boolean;
  end?(): void;
}

class JsonReportReader implements DocumentReader {
  readonly #report: (tool: string) => Report;
  #kind: ReportKind | null = null;
  #read = 0;
  #isOfTests = false;
  readonly #json = new JsonScanner({
    member: (name, depth) => {
      if (this.#kind !== null || depth !== 1) return;
      if (name === 'runs') this.#is('sarif');
      else if (name === 'reportFormat' || name === 'results') this.#is('ctrf');
      else if (name === 'testResults') this.#reads(jestReport(this.#report('jest')), true);
      else if (name === 'stats') this.#reads(mochaReport(this.#report('mocha')), true);
      else if (name === 'diagnostics') this.#reads(diagnosticsReport(this.#report('diagnostics')));
    },
    object: (value, place) => this.#kind?.object(value, place) ?? false,
  });

  constructor(report: (tool: string) => Report) {
    this.#report = report;
  }

  write(piece: string): DocumentState {
    this.#read += piece.length;
    this.#json.write(piece);
    const isOver = this.#json.depth === 0;
    if (this.#kind !== null) return isOver ? 'done' : 'reading';
    return isOver || this.#read > outputLimits.undecidedChars ? 'foreign' : 'undecided';
  }

  end(): void {
    this.#kind?.end?.();
    this.#kind = null;
  }

  get isOfTests(): boolean {
    return this.#isOfTests;
  }

  #reads(object: ReportObject, isOfTests = false): void {
    this.#kind = { object };
    this.#isOfTests = isOfTests;
  }

  #is(tool: 'sarif' | 'ctrf'): void {
    this.#isOfTests = tool === 'ctrf';
    this.#kind = tool === 'sarif' ? sarif(this.#report(tool)) : ctrf(this.#report(tool));
  }
}

/** Results of level `error`; where there is none, those of level `warning`, which is the default. */
function sarif(report: Report): ReportKind {
  const warnings = new KeySet();
  let errors = false;
  return {
    object(value, place) {
      if (place !== 'results') return false;
      const rule = textOf(value.ruleId) ?? (isObject(value.rule) ? textOf(value.rule.id) : null);
      const message = (isObject(value.message) ? (textOf(value.message.text) ?? textOf(value.message.id)) : null) ?? '';
      const kind = textOf(value.kind) ?? 'fail';
      const level = textOf(value.level) ?? 'warning';
      const isSettled = listOf(value.suppressions).length > 0 || value.baselineState === 'absent';
      if (kind !== 'fail' || isSettled || (level !== 'error' && level !== 'warning')) return true;
      const uri = uriOf(listOf(value.locations)[0]);
      const file = uri === null ? null : report.paths.short(uri);
      const key = ruleKey({ file, rule: rule ?? 'result', symbol: symbolsIn(message) });
      if (level === 'error') {
        errors = true;
        report.failing(key, message);
      } else warnings.add(key, message);
      return true;
    },
    end() {
      if (!errors) for (const { key, message } of warnings.failures()) report.failing(key, message ?? key);
    },
  };
}

function uriOf(location: JsonValue | undefined): string | null {
  const physical = isObject(location) ? location.physicalLocation : undefined;
  const artifact = isObject(physical) ? physical.artifactLocation : undefined;
  return isObject(artifact) ? textOf(artifact.uri) : null;
}

function ctrf(report: Report): ReportKind {
  return {
    object(value, place) {
      if (place !== 'tests') return false;
      if (value.status !== 'failed') return true;
      const said = textOf(value.filePath);
      const suites = typeof value.suite === 'string' ? value.suite.split(/ ?> /) : listOf(value.suite);
      const path = [...suites, textOf(value.name) ?? ''].filter((name) => typeof name === 'string');
      const message = textOf(value.message) ?? '';
      const error = errorKind(message) ?? errorKind((textOf(value.trace) ?? '').split('\n', 1)[0] as string);
      const file = said === null ? null : report.paths.short(said);
      const names = path.filter((name) => file === null || report.paths.short(name) !== file);
      report.failing(testKey({ file, path: names, error }), message);
      return true;
    },
  };
}

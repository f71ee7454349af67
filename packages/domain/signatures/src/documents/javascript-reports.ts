import { outputLimits } from '../limits.ts';
import { symbolInWords } from '../readers/biome.ts';
import { errorKind, ruleKey, testKey } from '../readers/keys.ts';
import { lintKey } from '../readers/lint-rows.ts';
import { mochaPath } from '../readers/mocha.ts';
import type { Report } from '../readers/reader.ts';
import type { DocumentFormat, DocumentReader, DocumentState } from './document.ts';
import { isObject, type JsonObject, JsonScanner, type JsonValue, listOf, textOf } from './json-scanner.ts';

/** Takes the objects of a report as they are complete; `true` = nothing more is to be known of it. */
export type ReportObject = (value: JsonObject, place: string | null) => boolean;

/** `jest --json`, and the json reporter of Vitest, which writes the same. */
export function jestReport(report: Report): ReportObject {
  return (value, place) => {
    if (place === 'assertionResults') return value.status !== 'failed';
    if (place !== 'testResults') return false;
    if (value.status !== 'failed') return true;
    const name = textOf(value.name);
    const file = name === null ? null : report.paths.short(name);
    const tests = listOf(value.assertionResults).filter(isObject);
    for (const test of tests) {
      const path = [...listOf(test.ancestorTitles), test.title ?? ''].filter((part) => typeof part === 'string');
      const message = textOf(listOf(test.failureMessages)[0]) ?? '';
      report.failing(testKey({ file, path, error: kindOf(message) }), message);
    }
    const message = textOf(value.message) ?? '';
    if (tests.length === 0) report.failing(testKey({ file, path: [], error: errorKind(firstLine(message)) }), message);
    return true;
  };
}

/** Mocha's json reporter. */
export function mochaReport(report: Report): ReportObject {
  return (value, place) => {
    if (place === 'err') return false;
    if (place !== 'failures') return place !== null;
    const said = textOf(value.file);
    const stack = isObject(value.err) ? (textOf(value.err.stack) ?? textOf(value.err.message) ?? '') : '';
    const path = mochaPath(textOf(value.fullTitle) ?? '', textOf(value.title) ?? '');
    report.failing(
      testKey({ file: said === null ? null : report.paths.short(said), path, error: kindOf(stack) }),
      firstLine(stack),
    );
    return true;
  };
}

/** The json formats of Biome and Oxlint: a list of diagnostics. */
export function diagnosticsReport(report: Report): ReportObject {
  return (value, place) => {
    if (place !== 'diagnostics') return false;
    if (value.severity !== 'error' && value.severity !== 'fatal') return true;
    const message = textOf(value.message) ?? textOf(value.description) ?? '';
    const category = textOf(value.category);
    if (category === null) {
      report.failing(
        lintKey(report.paths, textOf(value.filename), { rule: textOf(value.code) ?? 'parse', message }),
        message,
      );
      return true;
    }
    const path = isObject(value.location) ? value.location.path : undefined;
    const said = textOf(path) ?? (isObject(path) ? textOf(path.file) : null);
    const file = said === null ? null : report.paths.short(said);
    report.failing(ruleKey({ file, rule: category, symbol: symbolInWords(message) }), message);
    return true;
  };
}

/** The json formats of ESLint and Stylelint: a list of files with what is wrong in each. */
export const lintLists: DocumentFormat = {
  begins: (text) => text.startsWith('[{"filePath":') || text.startsWith('[{"source":'),
  start: (report) => new LintListReader(report),
};

class LintListReader implements DocumentReader {
  readonly #report: (tool: string) => Report;
  readonly #json: JsonScanner;

  constructor(report: (tool: string) => Report) {
    this.#report = report;
    this.#json = new JsonScanner({ member: () => undefined, object: (value, place) => this.#object(value, place) });
  }

  write(piece: string): DocumentState {
    this.#json.write(piece);
    return this.#json.depth === 0 ? 'done' : 'reading';
  }

  end(): void {
    // Each file was told when its object was complete.
  }

  #object(value: JsonObject, place: string | null): boolean {
    if (place === 'messages') return value.severity !== 2;
    if (place === 'warnings') return value.severity !== 'error';
    if (place !== null) return true;
    const file = textOf(value.filePath) ?? textOf(value.source);
    const tool = value.filePath === undefined ? 'stylelint' : 'eslint';
    const report = this.#report(tool);
    for (const each of [...listOf(value.messages), ...listOf(value.warnings)]) this.#failing(report, file, each);
    return true;
  }

  #failing(report: Report, file: string | null, said: JsonValue): void {
    if (!isObject(said)) return;
    const rule = textOf(said.ruleId) ?? textOf(said.rule) ?? '';
    const message = textOf(said.message) ?? textOf(said.text) ?? '';
    const parsing = rule === '' && message.startsWith('Parsing error: ');
    report.failing(lintKey(report.paths, file, { rule: parsing ? 'parsing error' : rule, message }), message);
  }
}

/** The message of an `expect` has no class and may quote one. */
function kindOf(message: string): string | null {
  const line = firstLine(message);
  if (/^(?:Error: )?expect\(/.test(line)) return null;
  if (
    /^(?:\w{0,40}Timeout)?Error: (?:(?:Test|Hook) timed out in |Timeout of \d)|^thrown: "Exceeded timeout of /.test(
      line,
    )
  )
    return 'timeout';
  return errorKind(line);
}

const firstLine = (text: string): string => text.slice(0, outputLimits.messageChars).split('\n', 1)[0] as string;

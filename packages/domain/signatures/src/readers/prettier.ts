import { errorKind, ruleKey } from './keys.ts';
import type { Answer, Report, ToolReader } from './reader.ts';

/** `prettier --check`: each file that is not formatted, each that could not be read. */
export const prettier: ToolReader = {
  tool: 'prettier',
  opens: ['^[warn] ', '^[error] ', '^Checking formatting...', '^Error occurred when checking code style'],
  start: (report) => ({ take: (line, text) => take(report, line, text) }),
};

const unformatted = /^\[warn\] (\S.{0,1000}\.\w{1,20}|(?:\S{1,1000}\/)?\.?\w{1,100})$/;
const unreadable = /^\[error\] (\S.{0,1000}?\.\w{1,20}): (\w{1,60}(?:Error|Exception)?): /;
const closing =
  /^(?:\[warn\] Code style issues |\[warn\] (?:Ignored unknown option|Ignoring )|Error occurred when checking code style|Checking formatting\.\.\.$)/;
const codeFrame = /^\[error\](?: {1,4}>? {0,4}\d{1,9} \|| {1,20}\||$)/;

function take(report: Report, line: string, text: string): Answer {
  if (line !== text) return 'pass';
  if (closing.test(text) || codeFrame.test(text)) return 'taken';
  const broken = unreadable.exec(text);
  if (broken !== null) {
    const [, file = '', said = ''] = broken;
    report.failing(ruleKey({ file: report.paths.short(file), rule: errorKind(said) ?? 'error' }), text);
    return 'taken';
  }
  const found = unformatted.exec(text)?.[1];
  if (found === undefined || found.includes(': ')) return 'pass';
  report.failing(ruleKey({ file: report.paths.short(found), rule: 'format' }), text);
  return 'taken';
}

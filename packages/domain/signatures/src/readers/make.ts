import { outputLimits } from '../limits.ts';
import { diagnosticText } from './diagnostics.ts';
import { ruleKey } from './keys.ts';
import type { Answer, LineReader, Report, ToolReader } from './reader.ts';

/**
 * make and ninja. They wrap other tools: a target whose recipe failed is said only where nothing in the recipe said
 * more. What make itself finds wrong (no rule, a broken makefile) is an item of its own.
 */
export const make: ToolReader = {
  tool: 'make',
  opens: [': *** ', '^make', '^gmake', ': Entering directory', 'not remade because of errors', '^FAILED: ', '^ninja: '],
  start: (report) => new MakeReader(report),
};

const made =
  /^(?:g|mingw32-)?make(?:\[(\d{1,3})\])?: \*\*\* (?:\[(?:[^\]:]{1,300}:\d{1,7}: )?(.{1,300}?)\] (.{1,100})|(.{1,400}))$/;
const entering = /^(?:g)?make(?:\[\d{1,3}\])?: (Entering|Leaving) directory ['`](.{1,400})'$/;
const broken = /^(\S{1,300}):\d{1,7}: \*\*\* (.{1,300})$/;

class MakeReader implements LineReader {
  readonly #report: Report;
  #folders: string[] = [];
  /** How deep the last failing make was: those above it fail with it. */
  #deepest = -1;

  constructor(report: Report) {
    this.#report = report;
  }

  take(line: string, text: string): Answer {
    const folder = entering.exec(text);
    if (folder !== null) {
      if (folder[1] === 'Leaving') this.#folders.pop();
      else if (this.#folders.length < outputLimits.headings)
        this.#folders.push((folder[2] as string).split(/[\\/]/).at(-1) ?? '');
      return 'taken';
    }
    const target = made.exec(text);
    if (target !== null) return this.#target(target, text);
    const makefile = broken.exec(line);
    if (makefile !== null) {
      const said = diagnosticText((makefile[2] as string).replace(/ {1,2}Stop\.$/, ''));
      this.#report.failing(ruleKey({ file: this.#report.paths.short(makefile[1] as string), rule: said }), text);
      return 'taken';
    }
    const edge = /^FAILED: (\S{1,300})/.exec(line)?.[1];
    if (edge !== undefined && !edge.includes('::')) {
      this.#report.wrapping(ruleKey({ file: this.#report.paths.short(edge), rule: 'failed' }), text);
      return 'taken';
    }
    return /^ninja: build stopped|^(?:g)?make(?:\[\d{1,3}\])?: Target .{1,300} not remade/.test(text)
      ? 'taken'
      : 'pass';
  }

  #target(found: RegExpExecArray, text: string): Answer {
    const level = Number(found[1] ?? 0);
    const file = this.#folders.at(-1) ?? null;
    if (found[2] === undefined) {
      const said = (found[4] as string).replace(/ {1,2}Stop\.$/, '');
      if (/^Waiting for unfinished jobs|^Deleting file/.test(said)) return 'taken';
      this.#report.failing(ruleKey({ file, rule: diagnosticText(said) }), text);
      return 'taken';
    }
    if (this.#deepest <= level)
      this.#report.wrapping(ruleKey({ file, rule: found[2], symbol: (found[3] as string).trim() }), text);
    this.#deepest = level;
    return 'taken';
  }
}

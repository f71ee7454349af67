import type { Answer, LineReader, ToolReader } from './reader.ts';

/**
 * What npm, pnpm, Yarn, Lerna and Turborepo say when a script failed: that it did, never what failed in it. What they
 * say of their own troubles (a registry that does not answer, a missing package) is left to the masking reader.
 */
export const packageScripts: ToolReader = {
  tool: 'package scripts',
  opens: [
    '^npm ERR! ',
    '^npm error ',
    'ELIFECYCLE',
    'ERR_PNPM_RECURSIVE',
    '"pnpm recursive run"',
    '^error Command failed',
    '^info Visit https://yarnpkg',
    '^lerna ERR!',
    '^✖ nx run ',
    '^✖  nx run ',
    ' targets failed',
    '^NX  ',
    '^[FAILED] ',
    '^✖ ',
    '^- nx run ',
    ' ERROR  run failed',
    ': command (',
    '^error: script "',
  ],
  start: () => new PackageScripts(),
};

const npm = /^npm (?:ERR!|error) ?/;
/** The first of npm's lines tells whether a script or npm itself failed. */
const ofScript = /^(?:Lifecycle script `|code (?:ELIFECYCLE|\d{1,5})$|Test failed\.|errno \d{1,5}$)/;
const footers =
  /^(?:\[?ELIFECYCLE\]? |\[?ELIFECYCLE\]?$|Error: ERR_PNPM_RECURSIVE|ERR_PNPM_RECURSIVE|[×✕] "pnpm recursive run" failed|error Command failed with (?:exit code|signal)|info Visit https:\/\/yarnpkg|lerna ERR! .{0,200}(?:exited|ELIFECYCLE|lifecycle)|[✖✔] {1,4}nx run \S|- nx run \S|✖ {1,4}\d{1,6}\/\d{1,6} targets failed|NX {2,3}(?:Ran|Running) targets? |\[FAILED\] |✖ (?:eslint|prettier|stylelint|tsc|biome|oxlint|vitest|jest|npm|npx|pnpm|yarn)\b.{0,300}:$|ERROR {2}run failed|\S{1,300}: command \(.{0,500}\) .{0,500} exited \(\d|error: script "[^"]{1,200}" (?:exited|was terminated))/;

class PackageScripts implements LineReader {
  #script = false;

  take(_line: string, text: string): Answer {
    // A carriage return before the end of a line reads as a blank line.
    if (text === '') return this.#script ? 'hold' : 'pass';
    const said = npm.exec(text);
    if (said !== null) {
      const what = text.slice(said[0].length);
      if (ofScript.test(what)) this.#script = true;
      return this.#script ? 'hold' : 'pass';
    }
    this.#script = false;
    return footers.test(text) ? 'taken' : 'pass';
  }
}

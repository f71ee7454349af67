/**
 * The contract between the output reader and the readers of single tools.
 *
 * **A tool is** one file `readers/<tool>.ts` that exports a `ToolReader`, one entry in a list (`javascript-tools.ts`,
 * `native-tools.ts`, `formats.ts`), and one folder `fixtures/<tool>/` (see `fixtures/README.md`).
 *
 * **Lines.** `take` is given lines as a person reads them: no escapes, no control characters, no CI or workspace prefix,
 * no trailing blanks, at most `outputLimits.lineChars` long, carriage returns read as line ends. `line` keeps its
 * indentation, `text` is without it. Each channel (stdout, stderr) has its own instance; a line of one never comes
 * between two of the other. Any part of the output may be missing (cut at either end or in the middle, footer lost,
 * banner lost): a line that names a failing item must be enough on its own wherever the tool makes that possible.
 *
 * **Who sees a line**, in this order, until one answers anything but `pass`:
 * 1. the holder: the reader that answered `hold` to the line before;
 * 2. the session: the reader that answered `open` or `adopt` last and did not end it. It sees every line, blank ones too;
 * 3. every reader of which one of the words in `opens` stands in the line, in the order of the registry;
 * 4. the masking reader, which knows no tool. Outside a session only.
 *
 * Blank lines are shown to the holder and the session alone, as `''`.
 *
 * **Answers** are given by what the line is, not by whether a key came of it. "This is mine and means nothing" (a passing
 * test, a footer, a code frame, a stack) is `taken`: it keeps the line from the masking reader, which would take
 * `✓ error is thrown` for a failure.
 *
 * **Sessions** are for tools that run foreign code whose output stands between their own lines (test runners): from the
 * banner to the closing summary. What nobody takes there, on any channel, is noise of the tests: dropped when the session
 * is closed or named a failing item; read like any other line otherwise (the runner died: its last words are what is
 * known). Other
 * tools' readers are still woken in it, so an output whose footer was cut loses nothing. A runner without a banner answers `adopt` to its first own line:
 * what nobody took since the last session or package script began is then noise too. `close` belongs on the last line
 * of the summary, `leave` where only a foreign line shows that the summary is over. Everything that the runner itself
 * says of failures outside tests (a file that did not load, an unhandled error, coverage below its threshold) must be
 * taken and reported by its reader. There is one session at a time; a new one replaces it. Compilers and linters, whose
 * every line is their own, need none.
 *
 * **Holding** is for the line after: a message under a heading, a code frame. `hold` gives no right over lines that the
 * reader then passes: passing one lets go. Never hold across a part that a program under test may fill without end:
 * a holder is let go after `outputLimits.heldLines` lines.
 *
 * **State** in a reader is bounded: it may remember a heading, a file, a stack of at most `outputLimits.headings` suites,
 * and at most `outputLimits.remembered` names. Memory never grows with the output. Every regular expression is linear in
 * the line: no two neighbouring quantifiers that can match the same characters (`\s+$`, `.*.*`, `(\S+)+`, `\s*\(.*\)\s*$`),
 * bounded repeats (`{0,200}`) where something follows that can fail, anchors where possible.
 *
 * **Keys** are made with `testKey` and `ruleKey` (keys.ts): *what* fails and how. Never a line number, a value out of a
 * message, a duration, a count, an absolute path. The same item must give the same key in every verbosity and reporter
 * of the tool, so take what all of them print; where a detail section and a summary both name it, both must give one
 * key, not two. The tool's name is no part of a key.
 */

/**
 * - `pass`: not mine.
 * - `taken`: mine.
 * - `hold`: mine, and show me the next line first, whatever stands in it.
 * - `open`: mine, and a session of mine begins (or goes on).
 * - `adopt`: like `open`, and unclaimed lines just before it were noise of my tests. Without effect in a session of mine.
 * - `close`: mine, and it ends my session.
 * - `leave`: not mine, and my session had ended before it.
 */
export type Answer = 'pass' | 'taken' | 'hold' | 'open' | 'adopt' | 'close' | 'leave';

export interface LineReader {
  take(line: string, text: string): Answer;
  /**
   * Asked in its session: lines in which no reader's word stands, and that are no single word, would now be passed and
   * change nothing in it. They are not even cut out then. Absent = no.
   */
  readonly isWaiting?: boolean;
  /** The output is over: report what was held back. */
  end?(): void;
}

/** Where a reader says what fails. */
export interface Report {
  /** An item of the failing set. Said again, the first message stands. */
  failing(key: string, message: string): void;
  /** A wrapper (make, a build tool) says that what it ran failed: counts only where nothing else says what. */
  wrapping(key: string, message: string): void;
  /** Takes it back: a later attempt of the same run passed. */
  passing(key: string): void;
  readonly paths: Paths;
}

/** Paths as keys hold them. One for the whole output: what one tool says of the root serves the others. */
export interface Paths {
  /** The tool said which absolute folder the paths are relative to (`rootdir:`, `RUN v3 /x`, `Entering directory`). */
  root(folder: string): void;
  /**
   * The path below the root, with `/` between its parts, without `./`, `file://`, a place (`:12:4`, `(12,4)`) at its
   * end. An absolute path below no known root begins at its first well-known folder (src, test, packages ...), else is
   * its base name. Parts below a temporary folder that look drawn at random are masked.
   */
  short(path: string): string;
}

export interface ToolReader {
  /** As reported in `tool`: lower case, as people call it ('node:test', 'go test', 'eslint'). */
  readonly tool: string;
  /**
   * Words of which at least one stands in every line that the reader wants while it neither holds nor is in a session.
   * Plain text, case counts; `^` at the beginning = the line's text begins with the rest. All words of all readers are
   * found in one pass over the line, so many are fine; make them as telling as possible: a reader that is woken by most
   * lines costs the time of all. Two characters at least, one where it is anchored.
   */
  readonly opens: readonly string[];
  /**
   * How a passing test's line begins and ends, where such a line means nothing and changes nothing while the reader waits
   * in its session (see `isWaiting`). It is not even cut out then.
   */
  readonly passing?: readonly (readonly [begins: string, ends: string])[];
  start(report: Report): LineReader;
}

/** A key of the failing set with the line it was first seen in. */
export interface Failure {
  readonly key: string;
  readonly message?: string;
}

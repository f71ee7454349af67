/** How the masking reader tells one kind of line from another. Every pattern is linear in the line. */

const anyCase = [
  'not ok,fail,error,errored,fatal,panic,except,assert,unde,cannot,could not,not found,refused,denied,timed out,no such',
  'segmentation,killed,invalid,unable,missing,unexpected,expected,mismatch,gateway,unavailable,too many,no space,',
  'unreachable,no route,out of memory,core dumped,reset by,failure in name,rate limit,abort,unknown,wrong',
]
  .join(',')
  .split(',')
  .filter((word) => word !== '');
const digits = Array.from({ length: 10 }, (_, digit) => String(digit));

/** Words of which one stands in every line that the masking reader looks at more closely. */
export const worthReading: readonly string[] = [
  ...anyCase.flatMap((word) => [word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()]),
  ...['✖', '✗', '✘', '×', '✕', '❌', '●', '⨯', '▶'].map((sign) => `^${sign}`),
  ...['Subtest', 'location:', 'test at ', 'Exit', 'Interrupt', 'Traceback', 'goroutine ', 'Exception', 'lint/'],
  // Of lines that name a failing test of Minitest, of Dart.
  ...['.rb:', '#test', ' [E]', 'not recognized'],
  ...['^would reformat', '^Would reformat', '^Diff in ', '^CONFLICT ('],
  ...['ENO', 'EACC', 'EPER', 'EEXI', 'EISD', 'EMFI', 'EADD', 'ECON', 'EPIP', 'ETIM', 'EAI_', 'EHOS', 'ENET', 'EINV'],
  ...['EBUS', 'EROF', 'ELOO', 'EXDE', 'EBAD', 'EPROTO', 'E429', 'E50', '429', '500', '502', '503', '504'],
];

/** Of these too, if `isNumbered` says so. */
export const perhapsWorthReading: readonly string[] = digits.flatMap((digit) => [`:${digit}`, `${digit}) `]);

/** A place in a file that something is said about, or an item of a numbered list. */
export const isNumbered = (line: string): boolean => /^(?:[\w./@\\-]{1,300}:\d|\s{0,60}\d{1,4}\) \S)/.test(line);

/** A test that passed, was skipped or only began, whatever its name is. */
const passingStart =
  /^(?:ok\b|PASS(?:ED)?\b|SKIP(?:PED)?\b|[✓✔√☑✅﹣↓○◌]|--- (?:PASS|SKIP)|=== (?:RUN|PAUSE|CONT|NAME)|\(pass\)|\(skip\)|\[ +(?:OK|RUN|PASSED|SKIPPED) +\])/;
const passingEnd =
  /(?:\.\.\. ?(?:ok|ignored|skipped)|\.{3}(?:Passed|Skipped)|\b(?:PASSED|SKIPPED|XFAIL|XPASS)(?: +\[ *\d+%\])?| {3}Passed(?: .{0,20})?)$/;

/** Counts and closing words of a harness: they follow from the rest, and differ with it. */
export const footer =
  /^\d+ runs, \d+ assertions, |^\d{1,4}\) (?:Failure|Error):$|^(?:\[(?:info|error)\] )?\*{3} \d+ (?:TEST|SUITE)S? |^\[ERROR\] Found \d+ errors?$|^\d\d:\d\d \+\d.{0,40}: Some tests failed\.$|^(?:[ℹ#✖✗×] )?(?:\d+ (?:of \d+ )?(?:tests?|specs?|suites?|sub ?tests?|examples?|assertions?|files?|errors?|warnings?|problems?|failures?|failed|failing|passed|passing|pending|skipped)\b|(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) \d)|^(?:Found \d+ errors?|(?:Tests|Test Suites|Test Files|Snapshots|Time|Ran|Failures|Errors|Duration|Start at|Total|Result|test result)\b:? ?.{0,20}(?:\d|FAILED)|[=_─⎯-]{3,}(?! (?:FAIL|PASS))|FAIL(?:ED|URES?)?!?(?: \(.{0,80}\))?$|✖ failing tests:$|failures?:$|failed$|failing tests:$|\[ +FAILED +\] \d+ tests?|error: ['"]?(?:test failed|\d+ subtests? failed)|error: \|)/i;

/** Stack frames, code frames and the halves of a diff: places and values. */
export const surroundings =
  /^(?:at |File "|async |error: (?:'.{0,4000}'|".{0,4000}")$|(?:code|name|failureType): '|[>|] |\d+ ?\| |[~^]+$|[+-](?: |$)|(?:actual|expected|received|stack|generatedMessage|operator|failureType|type|duration_ms|exitCode|signal|diff|errno|syscall|message|throw|raise|return)\b[ :(]|raise$|"(?:actual|expected|stack)":)/i;

/** A line that names a failing test: by what it begins with, or by what it ends with. */
const failingStart =
  /^(?:[✖✗✘×✕❌●⨯] *\S|not ok\b|FAIL(?:ED)?:? +\S|FAIL\t\S|--- FAIL:|ERROR:? +\S+(?:::|$| \()|\(fail\) |\d{1,4}\) \S|\[ +FAILED +\])/;
const failingEnd =
  /(?: \[E\]|^\w[\w:]{0,200}#\S{1,300}(?: \[\S{1,300}:\d{1,7}\])?:|\.\.\. ?FAILED|\.{3}Failed$|\bFAILED(?: +\[ *\d+%\])?)$/;

/** What a line says about one test, `null` where it says nothing about any. The beginning counts more than the end. */
export function testVerdict(text: string): 'passed' | 'failed' | null {
  if (passingStart.test(text)) return 'passed';
  if (failingStart.test(text)) return 'failed';
  if (passingEnd.test(text)) return 'passed';
  return failingEnd.test(text) ? 'failed' : null;
}

/** The tools' wrappers around a failure, which say that there was one and not which. */
export const wrapper =
  /^(?:npm (?:ERR!|error)|make(?:\[\d+\])?: \*\*\*|ninja: build stopped|exit status \d|error Command failed|error: script "|ERROR: (?:failed to solve: )?process ".{0,400}" did not complete|.{0,40}ELIFECYCLE|Error: Process completed with exit code|error: Process completed with exit code|Command failed|.{0,60}exited with (?:code|status) \d)/i;

const errno =
  'ENOENT|EACCES|EPERM|EEXIST|ENOTDIR|EISDIR|EMFILE|ENOSPC|EADDRINUSE|EADDRNOTAVAIL|ECONNREFUSED|ECONNRESET|ECONNABORTED|' +
  'EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EINVAL|ENOMEM|EBUSY|EROFS|ELOOP|ENOTEMPTY|EXDEV|EBADF|EPROTO';

/** What makes a line one about a failure in itself. */
const failure = new RegExp(
  [
    String.raw`(?:^|[\s:\]([-])(?:fatal )?(?:error|fatal|panic|failure)(?:\[[\w:-]{1,40}\])?(?: [A-Z]{1,6}\d{1,6})?: `,
    String.raw`\b\w{0,60}(?:Error|Exception|Failure|Exit|Interrupt)\b(?: \[\w{1,60}\])?(?:: |$)`,
    String.raw`\b(?:${errno})\b`,
    String.raw`command not found|not recognized as an internal|: \d+: \S{1,80}: not found|No such file or directory`,
    String.raw`[Cc]onnection refused|[Pp]ermission denied|[Ss]egmentation fault|core dumped|\bKilled$|[Oo]ut of memory|[Tt]imed out\b`,
    String.raw`undefined reference|undefined: |[Cc]annot find |[Cc]ould not (?:resolve|find|compile|connect)`,
    String.raw`panicked at|[Aa]ssertion (?:failed|.{1,200} failed)|^E +(?:assert\b|\w{1,60}(?:Error|Exception)\b)|^\w{1,60}Error$`,
    String.raw`^[Ww]ould reformat:? \S|^Diff in \S|^CONFLICT \(`,
    String.raw`^goroutine \d+ \[.{0,40}\]:$|^Traceback$|^FATAL\b|\bFAILED\b|\bFAILURE\b`,
  ].join('|'),
);
const notAFailure =
  /\bwarn(?:ing)?\b(?:\[[\w:-]{1,40}\])?(?: [A-Z]{1,6}\d{1,6})?:|^(?:note|info|help|hint|debug)\b[: ]|^goroutine /i;
/** A compiler's diagnostic: `path:line:column: what`, from the first column on. */
const diagnostic = /^[\w./@\\-]{1,300}\.[A-Za-z]\w{0,9}(?::\d+){1,2}:? (?!warning|note|info|help|\+0x)\S/;

/** `text` is the line without its indentation. */
export const aboutFailure = (line: string, text: string): boolean =>
  (failure.test(text) || diagnostic.test(line)) && !notAFailure.test(text);

/** Only where nothing else in the whole output was found: words, and no parts of paths, that speak of a failure. */
export const perhapsFailure =
  /(?<![\w/\\.-])(?:errors?|errored|fail(?:ed|ures?|s|ing)?|invalid|cannot|could not|unable|missing|denied|refused|unexpected|not found|mismatch|wrong|expected|fatal|abort(?:ed)?|unknown)(?![\w/\\-]|\.\w)/i;

/** An assertion, whose message holds values. */
export const assertion =
  /Assertion|\bXCTAssert|^E +assert\b|\bassert(?:ion)?\b|\b(?:expected|got|want|actual|received)\b|\bto (?:equal|be|have|deep|match)\b/i;

/** A row of a linter under the path it belongs to. */
export const lintRow = /^\s*\d+:\d+\s+(error|warning)\s+(.*)$/;
export const lintPath = /^(?!\s)[^\s:]{1,300}\.[A-Za-z]\w{0,9}$/;

/** A network, a service or a program that the gate needs, not the work under test. */
const outage = new RegExp(
  [
    String.raw`command not found|not recognized as an internal|: \d+: \S{1,80}: not found|executable file not found`,
    String.raw`^make(?:\[\d{1,3}\])?: \S{1,200}: No such file or directory$`,
    String.raw`\bECONNREFUSED\b|\bECONNRESET\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bETIMEDOUT\b|\bEHOSTUNREACH\b|\bENETUNREACH\b|\bENOSPC\b|\bcode E(?:429|5\d\d)\b`,
    String.raw`connection (?:refused|reset|timed out)|could not resolve host|temporary failure in name resolution|could not transfer artifact|in offline mode|client\.timeout exceeded|i\/o timeout|request canceled while waiting for connection|no route to host|network is unreachable|tls handshake timeout`,
    String.raw`no space left on device|cannot connect to the docker daemon|too many requests|rate limit|bad gateway|service unavailable|gateway time-?out`,
  ].join('|'),
  'i',
);

/** An answer of something that is fetched from. */
const answer = /\b(?:429|5\d\d)\b/;
const ofService =
  /\b(?:registry|fetch(?:ing)?|download(?:ing)?|proxy|pull(?:ing)?|index|npm|pip|upstream|mirror|https?:)/i;
const isAnswered = /err|fail|status|http|return|respon/i;

export const isOutage = (text: string): boolean =>
  outage.test(text) || (answer.test(text) && ofService.test(text) && isAnswered.test(text));

/** What a package manager says when it got nothing: of the package, or of the network if that was away. */
export const perhapsOfOutage =
  /could not find a version that satisfies|no matching distribution found|could not resolve (?:all |dependenc|\S{1,200}:\S{1,200}:)|unable to locate package|failed to (?:fetch|download)/i;

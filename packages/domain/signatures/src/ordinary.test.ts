import { describe, expect, test } from 'vitest';
import { readOutput } from './index.ts';

// What gates print in ordinary use: tools inside other tools, in logs of CI systems, on other systems than ours.

const read = (output: string) => readOutput({ output, exitCode: 1 });
const keys = (output: string) => read(output).failures.map(({ key }) => key);
const each = (text: string, dress: (line: string) => string) => text.split('\n').map(dress).join('\n');

const vitest = `
 RUN  v3.2.7 /home/runner/work/shop/shop

 ❯ test/cart.test.ts (3 tests | 1 failed) 12ms
   ✓ adds 1ms
   × totals 5ms
     → expected 3 to be 4 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/cart.test.ts > totals
AssertionError: expected 3 to be 4 // Object.is equality
 ❯ test/cart.test.ts:9:17

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  1 failed | 2 passed (3)
   Duration  412ms
`;
const totals = 'test/cart.test.ts > totals: AssertionError';
const coverage = `
 % Coverage report from v8
----------|---------|----------|---------|-------------------
File      | % Stmts | % Branch | % Lines | Uncovered Line #s
----------|---------|----------|---------|-------------------
 src      |   81.2  |    70.1  |   81.2  |
  error.ts|   40.1  |    10.1  |   41.2  | 2-19,44,90-120
----------|---------|----------|---------|-------------------
`;

describe('one failing test, wherever its runner runs', () => {
  test.each<[string, string]>([
    ['a downloaded log of GitHub', each(vitest, (line) => `test\tRun npm test\t2026-01-02T03:04:05.1234567Z ${line}`)],
    [
      'npm',
      `\n> shop@1.0.0 test\n> vitest run\n${vitest}\nnpm error Lifecycle script \`test\` failed with error:\nnpm error code 1\n`,
    ],
    [
      'Nx',
      `\n> nx run web:test\n\n${vitest}\n NX   Running target test for project web failed\n\nFailed tasks:\n\n- web:test\n`,
    ],
    [
      'Nx of many',
      `   ✖  nx run web:test\n${each(vitest, (line) => `      ${line}`)}\n   ✔  nx run api:test (2s)\n\n   ✖    1/2 targets failed, including the following:\n         - nx run web:test\n`,
    ],
    [
      'concurrently',
      `${each(vitest, (line) => `[test] ${line}`)}\n[lint] npm run lint exited with code 0\n[test] npm run test exited with code 1\n`,
    ],
    [
      'docker compose',
      `Attaching to db-1, tests-1\n${each(vitest, (line) => `tests-1  | ${line}\ndb-1     | 2026-01-02 03:04:05.123 UTC [40] LOG:  checkpoint starting`)}\ntests-1 exited with code 1\n`,
    ],
    ['a table of coverage', vitest + coverage],
    ['warnings of Node', `(node:1234) [DEP0040] DeprecationWarning: The \`punycode\` module is deprecated.\n${vitest}`],
    ['Windows', vitest.replaceAll('\n', '\r\n')],
    [
      'tests that log',
      vitest.replace(
        '   ✓ adds',
        'stdout | test/cart.test.ts > adds\n{"level":50,"msg":"ECONNREFUSED"}\n2026-01-02 03:04:05 ERROR no such cart\n\n   ✓ adds',
      ),
    ],
  ])('%s', (_where, output) => {
    expect(keys(output)).toEqual([totals]);
  });

  test.each<[string, string]>([
    ['turbo', each(vitest, (line) => `web:test: ${line}`)],
    ['pnpm', each(vitest, (line) => `web test: ${line}`)],
  ])('%s names the package', (_where, output) => {
    expect(keys(output)).toEqual([`web > ${totals}`]);
  });

  test('Lerna names the package too', () => {
    const output = `lerna notice cli v8.1.2\n${each(vitest, (line) => `@shop/web: ${line}`)}\nlerna ERR! npm run test exited 1 in '@shop/web'\n`;
    expect(keys(output)).toEqual([`@shop/web > ${totals}`]);
  });
});

describe('tools that tell the file apart from what is wrong', () => {
  test.each<[string, string, string[]]>([
    [
      'webpack',
      "ERROR in ./src/cart.ts 12:5-10\nTS2304: Cannot find name 'total'.\n\nwebpack 5.90.0 compiled with 1 error in 2315 ms\n",
      ['src/cart.ts: TS2304 total'],
    ],
    [
      'webpack',
      "ERROR in ./src/main.js 1:0-28\nModule not found: Error: Can't resolve './gone' in '/home/me/shop/src'\n",
      ["src/main.js: Module not found: Error: Can't resolve './gone'"],
    ],
    [
      'Next.js',
      "Failed to compile.\n\n./src/app/page.tsx:12:5\nType error: Cannot find name 'total'.\n\n> 12 |   total\n",
      ["src/app/page.tsx: Cannot find name 'total'."],
    ],
    [
      'esbuild',
      '✘ [ERROR] Could not resolve "./gone"\n\n    src/main.ts:1:17:\n      1 │ import gone from "./gone"\n        ╵                  ~~~~~~~~\n\n1 error\n',
      ['src/main.ts: Could not resolve "./gone"'],
    ],
    [
      'Terraform',
      '╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 3, in resource "x" "y":\n│    3:   colour = "red"\n│ \n│ An argument named "colour" is not expected here.\n╵\n',
      ['main.tf: Unsupported argument resource "x" "y"'],
    ],
  ])('%s', (_tool, output, expected) => {
    expect(keys(output)).toEqual(expected);
    expect(keys(each(output, (line) => `2026-01-02T03:04:05.1234567Z ${line}`))).toEqual(expected);
    const moved = output
      .replaceAll('12:5', '31:7')
      .replace('1:0-28', '9:0-28')
      .replace('1:17', '4:2')
      .replace('line 3', 'line 8');
    expect(keys(moved)).toEqual(expected);
    expect(keys(output.replace(/cart\.ts|main\.(?:js|ts|tf)|page\.tsx/g, 'other.ts'))).not.toEqual(expected);
  });
});

describe('lines of tools that no reader knows', () => {
  test.each<[string, string, string[]]>([
    [
      'pre-commit',
      'trim trailing whitespace.................................................Passed\ncheck yaml...............................................................Failed\n- hook id: check-yaml\n',
      ['check yaml... Failed'],
    ],
    [
      'black',
      'would reformat src/cart.py\nwould reformat /home/me/shop/src/item.py\n\nOh no! 💥 💔 💥\n2 files would be reformatted.\n',
      ['would reformat src/cart.py', 'would reformat src/item.py'],
    ],
    [
      'Minitest',
      "Run options: --seed 4242\n\n# Running:\n\n.F.E\n\n  1) Failure:\nCartTest#test_total [test/cart_test.rb:9]:\nExpected: 4\n  Actual: 3\n\n  2) Error:\nCartTest#test_row:\nNoMethodError: undefined method `row' for nil\n    test/cart_test.rb:12:in `test_row'\n\n4 runs, 3 assertions, 1 failures, 1 errors, 0 skips\n",
      [
        'CartTest#test_row:',
        'CartTest#test_total [test/cart_test.rb]:',
        "NoMethodError: undefined method `row' for nil",
      ],
    ],
    [
      'Dart',
      '00:02 +1: adds\n00:02 +1 -1: totals [E]\n  Expected: <4>\n    Actual: <3>\n  test/cart_test.dart 9:5  main.<fn>\n00:03 +1 -1: Some tests failed.\n',
      ['totals [E]'],
    ],
    [
      'gotestsum',
      '✓  item (cached)\n✖  cart (3ms)\n\n=== Failed\n=== FAIL: cart TestTotal (0.00s)\n    cart_test.go:9: got 3, want 4\n\nDONE 5 tests, 1 failure in 0.5s\n',
      ['cart > TestTotal'],
    ],
    [
      'lint-staged',
      "[FAILED] eslint --fix [FAILED]\n\n✖ eslint --fix:\n\n/home/me/shop/src/cart.js\n  2:5  error  'total' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n\nhusky - pre-commit script failed (code 1)\n",
      ['src/cart.js: no-undef total'],
    ],
    [
      'a count alone',
      ' ------ ---- \n  12     Call to an undefined method Cart::totl().\n\n [ERROR] Found 1 error\n',
      [],
    ],
    [
      'git',
      'Auto-merging src/cart.ts\nCONFLICT (content): Merge conflict in src/cart.ts\nAutomatic merge failed; fix conflicts and then commit the result.\n',
      ['CONFLICT (content): Merge conflict in src/cart.ts'],
    ],
    [
      'progress',
      '\x1b[2K\x1b[1GDownloading [====>    ] 44%\rDownloading [=========] 100%\r\nerror: cart 7 is broken\n',
      ['error: cart 7 is broken'],
    ],
    [
      'XCTest',
      '/Users/me/shop/Tests/CartTests.swift:9: error: -[ShopTests.CartTests testTotal] : XCTAssertEqual failed: ("3") is not equal to ("4")\n',
      [
        'CartTests.swift: error: -[ShopTests.CartTests testTotal] : XCTAssertEqual failed: (<value>) is not equal to (<value>)',
      ],
    ],
  ])('%s', (_tool, output, expected) => {
    expect(keys(output)).toEqual(expected);
  });

  test('the seconds of a docker build are no part of what failed', () => {
    const build = (seconds: string, step: number) =>
      `#${step} [5/6] RUN npm ci\n#${step} ${seconds} npm error code EUSAGE\n#${step} ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1\n------\n${seconds} npm error code EUSAGE\n------\n`;
    expect(keys(build('0.412', 12))).toEqual(keys(build('1.307', 14)));
  });

  test.each([
    [
      'retries',
      'attempt 1/3 failed, retrying in 5s\nerror: no cart\n',
      'attempt 2/3 failed, retrying in 10s\nerror: no cart\n',
    ],
    [
      'folders',
      "src\\cart.ts(12,5): error TS2304: Cannot find name 'total'.\r\n",
      "src/cart.ts:9:5 - error TS2304: Cannot find name 'total'.\n",
    ],
  ])('%s are no difference', (_what, one, other) => {
    expect(keys(one)).toEqual(keys(other));
    expect(keys(one)).not.toEqual([]);
  });

  test('words in the names of files speak of no failure', () => {
    expect(
      keys(' src/errors/expected.json | 102 +++---\n src/fatal-error.ts       |   4 +-\n 503 files changed\n'),
    ).toEqual([]);
    expect(keys('DEBUG [main] shop.cart: read item 751 in cart c-e503\n')).toEqual([]);
  });
});

describe('what the gate needs was away', () => {
  test.each([
    ['npm', 'npm error code E503\nnpm error 503 Service Unavailable - GET https://registry.example/zod\n'],
    [
      'pip',
      "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(': Temporary failure in name resolution')': /simple/zod/\nERROR: Could not find a version that satisfies the requirement zod (from versions: none)\nERROR: No matching distribution found for zod\n",
    ],
    [
      'Maven',
      '[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project org.example:shop:jar:1.0: Could not transfer artifact junit:junit:pom:4.13 from/to central (https://repo.maven.apache.org/maven2): Connect to repo.maven.apache.org:443 failed -> [Help 1]\n',
    ],
    [
      'Gradle',
      "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':compileJava'.\n> Could not resolve all files for configuration ':compileClasspath'.\n         > Could not get resource 'https://repo.maven.apache.org/maven2/junit.pom'.\n            > Could not GET 'https://repo.maven.apache.org/maven2/junit.pom'. Received status code 503 from server: Service Unavailable\n",
    ],
    [
      'cmd.exe',
      "'vitest' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n",
    ],
    [
      'docker',
      'Error response from daemon: Get "https://registry-1.docker.io/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)\n',
    ],
  ])('%s', (_tool, output) => {
    expect(read(output)).toMatchObject({ outcome: 'errored', why: 'outage' });
  });

  test.each([
    [
      'npm',
      "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/zodd - Not found\nnpm error 404  'zodd@^3.0.0' is not in this registry.\n",
    ],
    [
      'pip',
      'ERROR: Could not find a version that satisfies the requirement zod==9 (from versions: none)\nERROR: No matching distribution found for zod==9\n',
    ],
  ])('a package that is not there is a verdict: %s', (_tool, output) => {
    expect(read(output)).toMatchObject({ outcome: 'failed', why: 'failing-items' });
  });
});

import { describe, expect, test } from 'vitest';
import { readOutput, signatureOf } from './index.ts';

const keys = (output: string, exitCode = 1) => readOutput({ output, exitCode }).failures.map((failure) => failure.key);
const signature = (output: string) => signatureOf('gate', keys(output));

interface Sample {
  tool: string;
  first: string;
  again: string;
  other: string;
  fewer: string;
}

const pytest = (tests: readonly (readonly [string, string])[], seconds: string, temp: string) => `
============================= test session starts ==============================
platform linux -- Python 3.12.1, pytest-8.3.2, pluggy-1.5.0
rootdir: ${temp}
collected 9 items

test_cart.py ${tests.map(() => 'F').join('.')}                                                    [100%]

=================================== FAILURES ===================================
${tests
  .map(
    ([name, error]) => `________________________________ ${name} __________________________________

    def ${name}():
>       assert total(${seconds}) == 4
E       ${error}

${temp}/test_cart.py:${seconds.length}: AssertionError`,
  )
  .join('\n')}
=========================== short test summary info ============================
${tests.map(([name, error]) => `FAILED test_cart.py::${name} - ${error}`).join('\n')}
========================= ${tests.length} failed, 5 passed in ${seconds}s ==========================
`;
const go = (tests: readonly string[], seconds: string) => `=== RUN   TestErrorIsHandled
--- PASS: TestErrorIsHandled (${seconds}s)
${tests.map((name) => `=== RUN   ${name}\n    calc_test.go:12: error: got ${seconds}\n--- FAIL: ${name} (${seconds}s)`).join('\n')}
FAIL
FAIL\texample.com/calc\t${seconds}s
ok  \texample.com/other\t${seconds}s
exit status 1
`;
const tsc = (names: readonly string[], at: number) =>
  `${names.map((name) => `src/a.ts(${at},${at + 2}): error TS2304: Cannot find name '${name}'.`).join('\n')}\n`;
const eslint = (rules: readonly string[], at: number, root: string) => `
${root}/src/cart.js
${rules.map((rule, index) => `  ${at + index}:${at}  error    'x' is wrong  ${rule}`).join('\n')}
  ${at}:1  warning  Unexpected console statement  no-console

✖ ${rules.length + 1} problems (${rules.length} errors, 1 warning)
`;

const samples: Sample[] = [
  {
    tool: 'pytest',
    first: pytest(
      [
        ['test_a', 'assert 0.51 == 4'],
        ['test_b', 'KeyError: 1'],
      ],
      '0.12',
      '/tmp/run-a',
    ),
    again: pytest(
      [
        ['test_b', 'KeyError: 1'],
        ['test_a', 'assert 0.93 == 4'],
      ],
      '12.50',
      '/tmp/other-9',
    ),
    other: pytest(
      [
        ['test_c', 'assert 0.51 == 4'],
        ['test_b', 'KeyError: 1'],
      ],
      '0.12',
      '/tmp/run-a',
    ),
    fewer: pytest([['test_a', 'assert 0.51 == 4']], '0.12', '/tmp/run-a'),
  },
  {
    tool: 'go test',
    first: go(['TestAdd', 'TestSub/5s'], '0.00'),
    again: go(['TestSub/5s', 'TestAdd'], '1.37'),
    other: go(['TestAdd', 'TestSub/6s'], '0.00'),
    fewer: go(['TestAdd'], '0.00'),
  },
  {
    tool: 'tsc',
    first: tsc(['cart', 'item'], 3),
    again: tsc(['item', 'cart'], 77),
    other: tsc(['cart', 'price'], 3),
    fewer: tsc(['cart'], 3),
  },
  {
    tool: 'eslint',
    first: eslint(['no-undef', 'no-unused-vars'], 4, '/home/ci/build-17'),
    again: eslint(['no-unused-vars', 'no-undef'], 9, '/Users/me/work'),
    other: eslint(['no-undef', 'eqeqeq'], 4, '/home/ci/build-17'),
    fewer: eslint(['no-undef'], 4, '/home/ci/build-17'),
  },
];

describe.each(samples)('output of $tool', ({ first, again, other, fewer }) => {
  test('one failing set has one signature', () => {
    expect(keys(first).length).toBeGreaterThan(0);
    expect(keys(again)).toEqual(keys(first));
  });
  test('another failing set has another', () => {
    expect(signature(other)).not.toBe(signature(first));
    expect(signature(fewer)).not.toBe(signature(first));
    expect(signature(fewer)).not.toBeNull();
  });
  test('a failure fewer is a strict subset', () => {
    expect(keys(first)).toEqual(expect.arrayContaining(keys(fewer)));
  });
  test('colours and CI line prefixes change nothing', () => {
    const dressed = first
      .split('\n')
      .map((line, index) => `2026-01-0${1 + (index % 9)}T10:00:0${index % 10}.1234567Z \x1b[31m${line}\x1b[0m\r`)
      .join('\n');
    expect(keys(dressed)).toEqual(keys(first));
  });
});

describe('what differs between runs is masked', () => {
  test.each([
    [
      'a uuid',
      'error: no user 7c9e6679-7425-40de-944b-e07fc1f90ae7',
      'error: no user 550e8400-e29b-41d4-a716-446655440000',
    ],
    ['an address', 'error: bad pointer 0x7ffee3b2', 'error: bad pointer 0x1020ab'],
    ['a port', 'Error: connect EPIPE 127.0.0.1:40112', 'Error: connect EPIPE 127.0.0.1:51913'],
    ['a pid', 'error: worker pid 4711 died', 'error: worker pid 12 died'],
    ['a seed', 'Error: property failed, seed: -182736', 'Error: property failed, seed: 99'],
    ['a retry counter', 'error: gave up, attempt 2 of 5', 'error: gave up, attempt 5 of 5'],
    ['a commit', 'error: cannot merge 3f2a9bc1d', 'error: cannot merge 9bd00e1f2'],
    ['a time', 'error: expired at 2026-01-02T03:04:05Z', 'error: expired at 2025-11-12T13:14:15.678Z'],
    ['a duration', 'error: timed out after 3012ms', 'error: timed out after 5.2 s'],
    [
      'an absolute path',
      'error: cannot open /home/a/x/src/cart.ts:12:4',
      'error: cannot open /Users/b/src/cart.ts:80:1',
    ],
    [
      'a temporary path',
      'error: cannot open /tmp/tmpa8x_91ks/cart.json',
      'error: cannot open /var/folders/ab/cd12/T/xY7/cart.json',
    ],
    [
      'a windows path',
      'error: cannot open C:\\Users\\a\\src\\cart.ts:12',
      'error: cannot open D:\\ci\\w1\\src\\cart.ts:9',
    ],
    ['a progress line', '10%\r20%\rerror: broken', 'error: broken\n'],
    ['the values of an assertion', 'AssertionError: expected 3 to equal 4', 'AssertionError: expected 9 to equal 1'],
    ['a group marker', '::group::Run tests\nerror: broken', 'section_start:1700000000:tests\r\x1b[0Kerror: broken'],
  ])('%s', (_what, one, two) => {
    expect(keys(one)).toEqual(keys(two));
    expect(keys(one)).toHaveLength(1);
  });

  test.each([
    ['errno', "Error: ENOENT: open 'a.txt'", "Error: EACCES: open 'a.txt'"],
    ['HTTP status', 'Error: request failed with status 404', 'Error: request failed with status 403'],
    ['error class', 'TypeError: broken', 'RangeError: broken'],
    ['rule', 'src/a.ts:1:2 lint/style/useConst', 'src/a.ts:1:2 lint/style/noVar'],
    ['symbol', "error TS2304: Cannot find name 'cart'.", "error TS2304: Cannot find name 'item'."],
    ['number in a test name', '✖ waits 5 seconds (12ms)', '✖ waits 6 seconds (12ms)'],
    ['file', '/srv/x/src/cart.ts:1:1: error: broken', '/srv/x/src/item.ts:1:1: error: broken'],
  ])('but the %s keeps its meaning', (_what, one, two) => {
    expect(keys(one).length).toBeGreaterThan(0);
    expect(keys(one)).not.toEqual(keys(two));
  });
});

test.each([
  'ok 3 - error is thrown',
  'PASS src/error.test.ts',
  '✓ error: handles FAILED',
  '√ throws TypeError: x',
  '✔ fails with Error: y (3ms)',
  'test errors::fatal ... ok',
  'tests/test_e.py::test_error FAILED_FAST PASSED [ 50%]',
  '    --- PASS: TestError (0.00s)',
  '# Subtest: error: broken',
  '[       OK ] Error.Fails (0 ms)',
  'Tests:       1 failed, 2 passed, 3 total',
  'ℹ fail 3',
  '# fail 3',
  '✖ 3 problems (2 errors, 1 warning)',
  'Found 3 errors in 2 files.',
  '========= 2 failed, 1 passed in 0.1s =========',
  'not ok 4 - later # TODO',
])('%s says nothing about what fails', (line) => {
  expect(keys(`${line}\n✖ really failing\n`)).toEqual(['✖ really failing']);
});

describe('outcome', () => {
  const outcome = (output: string, exitCode: number | null) => readOutput({ output, exitCode }).outcome;
  test.each([
    ['a missing binary', 'whatever', 127],
    ['a file that is not executable', '✖ x', 126],
    ['a kill', '✖ x', null],
    ['a kill seen through a shell', '✖ x', 137],
    ['a time limit', '✖ x', 124],
    ['silence', ' \n\n', 1],
    ['a missing command inside make', 'bash: line 1: vitest: command not found\nmake: *** [test] Error 127\n', 2],
    ['a registry that refuses', 'npm ERR! code ECONNREFUSED\nnpm ERR! request to http://127.0.0.1:4873/x failed\n', 1],
    [
      'a registry that is overloaded',
      'npm error code E429\nnpm error 429 Too Many Requests - GET https://registry.example/x\n',
      1,
    ],
    ['a registry that is down', 'error: failed to fetch https://registry.example/x: 503 Service Unavailable\n', 1],
    ['a crash without a word about a failure', 'starting\n', 139],
  ])('%s is errored', (_what, output, exitCode) => {
    expect(outcome(output, exitCode)).toBe('errored');
  });
  test.each([
    ['a test that could not connect', '✖ saves (3ms)\n  Error: connect ECONNREFUSED 127.0.0.1:5432\n', 1],
    ['a test about a 503', 'FAIL: test_503 (api.Test)\nAssertionError: 503 Service Unavailable\n', 1],
    ['a crash of the program under test', '✖ x\nSegmentation fault\n', 139],
    ['words nobody knows', 'hm\n', 1],
  ])('%s is failed', (_what, output, exitCode) => {
    expect(outcome(output, exitCode)).toBe('failed');
  });
  test('nothing extractable has no signature', () => {
    expect(keys('hm\nwell\n')).toEqual([]);
    expect(signature('hm\nwell\n')).toBeNull();
  });
});

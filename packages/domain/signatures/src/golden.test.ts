import { expect, test } from 'vitest';
import { readOutput, SIGNATURE_VERSION, signatureOf } from './index.ts';

// Signatures stand in the log for ever. When this fails, the reader reads differently: raise SIGNATURE_VERSION.
test('what version 2 reads from an output stays what it reads', () => {
  const output = [
    'TAP version 13',
    '# Subtest: adds',
    'not ok 1 - adds',
    '  ---',
    "  location: '/home/me/project/test/sum.test.mjs:4:1'",
    "  code: 'ERR_ASSERTION'",
    '  ...',
    '1..1',
    "src/cart.ts(12,5): error TS2304: Cannot find name 'total'.",
    'FAILED tests/test_cart.py::test_total - KeyError: 3',
    '--- FAIL: TestAdd (0.01s)',
    'Error: connect ECONNRESET 127.0.0.1:40112',
  ].join('\n');
  const keys = readOutput({ output, exitCode: 1 }).failures.map((failure) => failure.key);
  expect(SIGNATURE_VERSION).toBe(2);
  expect(keys).toMatchInlineSnapshot(`
    [
      "TestAdd",
      "src/cart.ts: TS2304 total",
      "test/sum.test.mjs > adds",
      "tests/test_cart.py > test_total: KeyError",
    ]
  `);
  expect(signatureOf('test', keys)).toMatchInlineSnapshot(
    `"499ff9a5d810692db6737263a60a2cd7af31d11859231c01501affa1fe57d11a"`,
  );
  expect(signatureOf('test', ['b', 'a', 'b'])).toMatchInlineSnapshot(
    `"1cca0f08c7cfe64b7eaaea9b8a8ca0de73e94b6d8a48b2ed19edbf3ce402add9"`,
  );
});

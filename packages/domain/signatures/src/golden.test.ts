import { expect, test } from 'vitest';
import { readOutput, SIGNATURE_VERSION, signatureOf } from './index.ts';

// Signatures stand in the log for ever. When this fails, the reader reads differently: raise SIGNATURE_VERSION.
test('what version 1 reads from an output stays what it reads', () => {
  const output = [
    'TAP version 13',
    '# Subtest: adds',
    'not ok 1 - adds',
    '  ---',
    "  location: '/home/me/project/test/sum.test.mjs:4:1'",
    "  code: 'ERR_ASSERTION'",
    '  ...',
    "src/cart.ts(12,5): error TS2304: Cannot find name 'total'.",
    'FAILED tests/test_cart.py::test_total - KeyError: 3',
    '--- FAIL: TestAdd (0.01s)',
    'Error: connect ECONNRESET 127.0.0.1:40112',
  ].join('\n');
  const keys = readOutput({ output, exitCode: 1 }).failures.map((failure) => failure.key);
  expect(SIGNATURE_VERSION).toBe(1);
  expect(keys).toMatchInlineSnapshot(`
    [
      "--- FAIL: TestAdd",
      "Error: connect ECONNRESET 127.0.0.1:<port>",
      "FAILED tests/test_cart.py::test_total KeyError",
      "not ok - adds",
      "src/cart.ts: error TS2304: Cannot find name 'total'.",
      "test/sum.test.mjs not ok - adds",
    ]
  `);
  expect(signatureOf('test', keys)).toMatchInlineSnapshot(
    `"f2fa6a99287b7088037bc7952524e55042885ce4079c32969263a4d001e9574a"`,
  );
  expect(signatureOf('test', ['b', 'a', 'b'])).toMatchInlineSnapshot(
    `"e57f140294ec4c2ccbc981e6fc23c082df23e1930a6001bcd249f8e8112e048c"`,
  );
});

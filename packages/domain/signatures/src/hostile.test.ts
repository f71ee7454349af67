import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOutputReader, outputLimits, readAttempt, readOutput, SIGNATURE_VERSION, signatureOf } from './index.ts';

const keys = (output: string | Uint8Array) =>
  readOutput({ output, exitCode: 1 }).failures.map((failure) => failure.key);
const failing = ['✖ adds (3ms)', 'error: broken', 'TypeError: x is undefined', 'fatal: no such ref'];

/** Lines that say nothing about a failure, with what real tools put around. */
const noise = fc.oneof(
  fc.constantFrom(
    'ok 1 - error',
    '✔ error passes (1ms)',
    'ℹ tests 4',
    '    at run (node:x:1:2)',
    '',
    '  2 !== 4',
    '# pass 3',
  ),
  fc.nat(100).map((percent) => `\x1b[2K\x1b[1G[${percent}%] working\r`),
  fc.stringMatching(/^[ a-d]{0,40}$/),
);

describe('properties', () => {
  test('order, repetition and noise between the lines change nothing', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(failing, { minLength: 1 }),
        fc.array(noise, { maxLength: 20 }),
        fc.infiniteStream(fc.nat(3)),
        (lines, around, picks) => {
          const mixed = [...lines, ...lines, ...around].map((line) => [picks.next().value ?? 0, line] as const);
          const text = mixed
            .sort(([a], [b]) => a - b)
            .map(([, line]) => line)
            .join('\n');
          expect(keys(text)).toEqual(keys(lines.toSorted().join('\n')));
        },
      ),
    );
  });

  test('where the chunks end changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(noise, fc.constantFrom(...failing, '✗ größer 日本 🚀')), { maxLength: 20 }),
        fc.integer({ min: 1, max: 9 }),
        (lines, size) => {
          const bytes = Buffer.from(lines.join('\n'));
          const reader = createOutputReader();
          for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
          expect(reader.end({ exitCode: 1 })).toEqual(readOutput({ output: bytes, exitCode: 1 }));
        },
      ),
    );
  });

  test('stdout and stderr may come in any interleaving', () => {
    const one = createOutputReader();
    one.push('error: one', 'stdout');
    one.push('error: bro', 'stderr');
    one.push(' half\n', 'stdout');
    one.push('ken\n', 'stderr');
    expect(one.end({ exitCode: 1 }).failures.map((failure) => failure.key)).toEqual([
      'error: broken',
      'error: one half',
    ]);
  });

  test('any bytes give a reading within the limits, and the same one twice', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 4_000 }),
        fc.option(fc.integer({ min: 0, max: 255 })),
        (bytes, exitCode) => {
          const read = readOutput({ output: bytes, exitCode });
          expect(readOutput({ output: bytes, exitCode })).toEqual(read);
          expect(read.failures.length).toBeLessThanOrEqual(outputLimits.keys);
          expect(new Set(read.failures.map((failure) => failure.key)).size).toBe(read.failures.length);
        },
      ),
    );
  });

  test('a signature depends on the gate and the set alone', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (set) => {
        expect(signatureOf('test', set.toReversed().concat(set))).toBe(signatureOf('test', set));
        expect(signatureOf('lint', set)).not.toBe(signatureOf('test', set));
        expect(signatureOf('test', [...set, 'one more than all of them'])).not.toBe(signatureOf('test', set));
      }),
    );
    expect(signatureOf('test', [])).toBeNull();
  });
});

describe('hostile output', () => {
  const MiB = 1024 * 1024;
  /** 10 MiB where it is one line; of the short lines, each of which is masked, less does. */
  const repeat = (text: string, bytes = /[\r\n]/.test(text) ? MiB : 10 * MiB) =>
    text.repeat(Math.ceil(bytes / text.length));
  test.each([
    ['one line of 10 MiB', repeat('error: x ')],
    ['one word of 10 MiB', `error: ${repeat('a')}`],
    ['unfinished escapes', repeat('\x1b]8;;error\x1b[')],
    ['NUL bytes', `${repeat('\0')}\nerror: broken`],
    ['slashes', `error: ${repeat('/a')}`],
    ['quotes', repeat(`error: "'"'\`"\\"\n`)],
    ['carriage returns', repeat('error: x\r')],
    ['digits and dots', repeat('1.2:3:4.5-6 error 0.1\n')],
    ['spaces', `✖${repeat(' ')}(`],
    ['brackets', repeat('FAILED [[[[(((( - \n')],
    ['deep headings', repeat('▶ a\n')],
  ])('%s is read to the end', (_what, output) => {
    for (const failure of readOutput({ output, exitCode: 1 }).failures)
      expect(failure.key.length).toBeLessThanOrEqual(outputLimits.keyChars);
  });

  test('of more keys than the limit the same ones stay whatever their order', () => {
    const lines = Array.from({ length: 3 * outputLimits.keys }, (_, index) => `✖ test ${index}`);
    expect(keys(lines.join('\n'))).toEqual(keys(lines.toReversed().join('\n')));
    expect(keys(lines.join('\n'))).toHaveLength(outputLimits.keys);
  });

  test('broken UTF-8 hides nothing around it', () => {
    expect(keys(Buffer.concat([Buffer.from('error: bro'), Buffer.from([0xff, 0xc0]), Buffer.from('ken\n')]))).toEqual([
      'error: broken',
    ]);
  });
});

describe('a reported attempt', () => {
  test('listed failures win over the output', () => {
    const read = readAttempt({
      gate: 'test',
      outcome: 'failed',
      failures: [{ key: 'b' }, { key: 'a', message: 'm' }, { key: 'b' }],
      output: '✖ c',
    });
    expect(read.failures).toEqual([{ key: 'b' }, { key: 'a', message: 'm' }]);
    expect(read.signature).toEqual({ version: SIGNATURE_VERSION, value: signatureOf('test', ['a', 'b']), tool: null });
  });
  test('an empty list does not', () => {
    expect(readAttempt({ gate: 'test', outcome: 'failed', failures: [], output: '✖ c' }).failures).toEqual([
      { key: '✖ c' },
    ]);
  });
  test('a passed or errored attempt has no signature', () => {
    expect(readAttempt({ gate: 'test', outcome: 'passed', output: '✖ c' })).toEqual({
      failures: [],
      signature: { version: SIGNATURE_VERSION, value: null, tool: null },
    });
    expect(readAttempt({ gate: 'test', outcome: 'errored', failures: [{ key: 'a' }] }).signature.value).toBeNull();
  });
});

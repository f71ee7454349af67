import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOutputReader, readOutput } from './index.ts';

const keys = (output: string | Uint8Array) =>
  readOutput({ output, exitCode: 1 }).failures.map((failure) => failure.key);

const upTo = (most: number) => fc.nat(most);
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
/** Letters and digits both, as drawn names and hashes have them. */
const drawn = (length: number) => hex(length - 2).map((text) => `a${text}7`);
const two = (value: number) => String(value % 60).padStart(2, '0');

/** What differs between two runs, as a text and the kind it is of. */
const varying = {
  time: upTo(86_399).map((at) => `2026-01-0${1 + (at % 9)}T0${at % 10}:${two(at)}:${two(at >> 6)}.${at % 1000}Z`),
  duration: upTo(99_999).map((at) => (at % 2 === 0 ? `${at}ms` : `${at / 10}s`)),
  port: upTo(50_000).map((at) => `127.0.0.1:${1_024 + at}`),
  pid: upTo(99_999).map((at) => `pid ${at}`),
  address: hex(8).map((text) => `0x${text}`),
  uuid: fc.uuid(),
  hash: drawn(40),
  seed: upTo(1_000_000).map((at) => `seed: ${at}`),
  retry: upTo(9).map((at) => `attempt ${at} of 9`),
  temporary: drawn(10).map((name) => `/tmp/run-${name}/out.json`),
  folder: fc.stringMatching(/^[a-z]{3,9}$/).map((name) => `/home/${name}/checkout/src/cart.ts:${name.length}:3`),
};
const kinds = Object.keys(varying) as (keyof typeof varying)[];
const pair = fc.constantFrom(...kinds).chain((kind) => fc.tuple(fc.constant(kind), varying[kind], varying[kind]));

/** Lines that say nothing about a failure. */
const noise = fc.oneof(
  fc.constantFrom('', '    at run (node:x:1:2)', '✔ error: passes (1.5ms)', 'ok 1 - fails with Error: x', '  2 !== 4'),
  upTo(100).map((percent) => `\x1b[2K\x1b[1G[${percent}%] building\r`),
  upTo(100).map((done) => `${'.'.repeat(done)}`),
  varying.time.map((time) => `${time} server started`),
  fc.stringMatching(/^[ a-d]{0,40}$/),
);
const failing = [
  'build.xyz:12:3: error: broken',
  'TypeError: x is undefined',
  'FAILED shop/cart::adds - KeyError',
  'fatal: no remote',
];
const prefixes: readonly ((line: string, at: number) => string)[] = [
  (line) => line,
  (line, at) => `2026-01-02T03:04:${two(at)}.1234567Z ${line}`,
  (line, at) => `[2026-01-02T03:04:${two(at)}.123Z] ${line}`,
  (line, at) => `03:04:${two(at)}  ${line}`,
  (line, at) => `#${1 + (at % 9)} ${at}.123 ${line}`,
  (line) => `web-1  | ${line}`,
  (line) => `\x1b[33m${line}\x1b[0m`,
];

describe('properties', () => {
  test('what differs between two runs of one failure changes nothing', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 4 }), (parts) => {
        const line = (side: 1 | 2) => `error: gave up on ${parts.map((part) => part[side]).join(' and ')}`;
        expect(keys(line(2))).toEqual(keys(line(1)));
        expect(keys(line(1))).toHaveLength(1);
      }),
    );
  });

  test('noise, order, repetition and prefixes around failing lines change nothing', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(failing, { minLength: 1 }),
        fc.array(noise, { maxLength: 30 }),
        fc.constantFrom(...prefixes),
        fc.infiniteStream(upTo(5)),
        (lines, around, prefix, picks) => {
          const mixed = [...lines, ...around, ...lines].map((line) => [picks.next().value ?? 0, line] as const);
          const text = mixed.sort(([a], [b]) => a - b).map(([, line], at) => prefix(line, at));
          expect(keys(text.join('\n'))).toEqual(keys(lines.toSorted().join('\n')));
        },
      ),
    );
  });

  test('one failing line fewer is a strict subset', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(failing, { minLength: 2 }), (lines) => {
        const fewer = keys(lines.slice(1).join('\n'));
        expect(keys(lines.join('\n'))).toEqual(expect.arrayContaining(fewer));
        expect(fewer.length).toBeLessThan(keys(lines.join('\n')).length);
      }),
    );
  });

  test('noise alone names nothing', () => {
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 30 }), (lines) => {
        expect(keys(lines.join('\n'))).toEqual([]);
      }),
    );
  });
});

describe('hostile documents', () => {
  test.each([
    ['XML without an end of a tag', `<testsuites><testcase name="${'a'.repeat(300_000)}`],
    ['XML of brackets', `<testsuites>${'<'.repeat(300_000)}`],
    ['XML of comments', `<testsuites>${'<!--'.repeat(100_000)}`],
    ['XML of suites', `${'<testsuite name="a">'.repeat(30_000)}`],
    ['JSON of depth', `{"runs":${'['.repeat(300_000)}`],
    ['JSON of one string', `{"runs":[{"results":[{"ruleId":"${'a'.repeat(300_000)}`],
    ['JSON of backslashes', `{"runs":["${'\\'.repeat(300_000)}`],
    ['JSON of members', `{"runs":{${'"a":1,'.repeat(60_000)}`],
    ['braces', '{\n'.repeat(60_000)],
    ['prefixes', '[2026-01-02T03:04:05Z] '.repeat(30_000)],
    ['lanes', Array.from({ length: 20_000 }, (_, at) => `lane${at}  | error: broken ${at % 7}x`).join('\n')],
    ['TAP without a plan', 'not ok 1 - a\n  ---\n  error: |-\n'.repeat(10_000)],
    ['failing tests of node:test', '✖ a (1.5ms)\n'.repeat(10_000)],
  ])('%s is read to the end, within the limits', (_what, output) => {
    const reader = createOutputReader();
    for (let at = 0; at < output.length; at += 65_536) reader.push(output.slice(at, at + 65_536));
    const read = reader.end({ exitCode: 1 });
    expect(read.failures.length).toBeLessThanOrEqual(2_000);
    for (const failure of read.failures) expect(failure.key.length).toBeLessThanOrEqual(500);
  });

  test('a report cut in the middle of a tag or a string names what is left of it', () => {
    const suite = (name: string) => `<testcase name="${name}"><failure type="KeyError" message="x"/></testcase>\n`;
    const whole = `<testsuites>\n${suite('a')}${suite('b')}${suite('c')}</testsuites>\n`;
    const cut = `${whole.slice(0, whole.indexOf('"b"') + 2)}\n[... 99 bytes cut ...]\n${suite('c')}</testsuites>\n`;
    expect(keys(whole)).toEqual(['a: KeyError', 'b: KeyError', 'c: KeyError']);
    expect(keys(cut)).toEqual(['a: KeyError', 'c: KeyError']);
  });

  test('the values of a diagnostic block of TAP are no keys, even where its plan was cut off', () => {
    const block = (value: string) =>
      `not ok 1 - adds\n  ---\n  error: '${value} == 3'\n  code: 'ERR_ASSERTION'\n  ...\n`;
    expect(keys(block('-1'))).toEqual(keys(block('22')));
    expect(keys(`1..1\n${block('-1')}`)).toEqual(['adds']);
  });
});

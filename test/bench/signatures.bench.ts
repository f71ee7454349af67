/**
 * What reading the failing set from real output costs, against a line splitter over the same bytes. The output is that of
 * every tool of which the project holds one, over and over, in chunks as a pipe gives them. Prints one line of JSON.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOutputReader } from '@headway/signatures';

const MEBIBYTE = 1024 * 1024;
const MIXED_BYTES = 16 * MEBIBYTE;
const CHUNK_BYTES = 64 * 1024;
const ROUNDS = 5;

const folder = join(import.meta.dirname, '../../packages/domain/signatures/fixtures');
const outputs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.txt'))
  .sort()
  .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));

/** Another run of the same: longer numbers are other ones, so that no line is known from before. */
function varied(bytes: Buffer, round: number): Buffer {
  const digits = /\d{3,}/g;
  return Buffer.from(
    bytes.toString().replace(digits, (text) => String((Number(text) + round * 7) % 10 ** text.length)),
  );
}

/** Whole outputs, one after the other, up to the size: what one gate that runs everything prints. */
function mixed(): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (let at = 0; size < MIXED_BYTES; at += 1) {
    const round = Math.floor(at / outputs.length);
    const part = varied(outputs[at % outputs.length]?.bytes ?? Buffer.alloc(0), round);
    parts.push(part, Buffer.from('\n'));
    size += part.length + 1;
  }
  return Buffer.concat(parts);
}

/** A long run with few failures: passing tests, build steps and logs between them. */
function quiet(): Buffer {
  const lines: string[] = [];
  let size = 0;
  for (let at = 0; size < MIXED_BYTES; at += 1) {
    const line = [
      `  ✓ cart adds item number ${at} (${at % 50}ms)`,
      `ok ${at} - handles request ${at}`,
      `[${at % 100}%] Building CXX object src/CMakeFiles/app.dir/part${at}.cpp.o`,
      `2026-01-02 03:04:05,${at % 1000} INFO server: GET /items/${at} 200 in ${at % 90}ms`,
      `tests/test_cart.py::test_item_${at} PASSED`,
      `   Compiling crate-${at} v0.${at % 30}.0`,
    ][at % 6] as string;
    lines.push(line);
    size += line.length + 1;
  }
  return Buffer.from(lines.join('\n'));
}

/** Microseconds of this thread: other load on the machine is not counted. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function read(bytes: Buffer): number {
  const reader = createOutputReader();
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) reader.push(bytes.subarray(at, at + CHUNK_BYTES));
  return reader.end({ exitCode: 1 }).failures.length;
}

/** The least that anything does which looks at lines: decode, split, count. */
function split(bytes: Buffer): number {
  const decoder = new TextDecoder();
  let pending = '';
  let lines = 0;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const parts = (pending + decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: true })).split('\n');
    pending = parts.pop() ?? '';
    lines += parts.length;
  }
  return lines;
}

/** MB/s of the fastest round, after one that is not counted. */
function speed(work: (bytes: Buffer) => number, bytes: Buffer): number {
  work(bytes);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = processorTime();
    work(bytes);
    best = Math.min(best, processorTime() - before);
  }
  return bytes.length / best;
}

for (const [what, bytes] of [
  ['outputs of every tool', mixed()],
  ['a long run with nothing failing', quiet()],
] as const) {
  const signature = speed(read, bytes);
  const splitter = speed(split, bytes);
  console.log(
    JSON.stringify({
      measure: `signature of ${what}, one thread`,
      outputs: outputs.length,
      megabytesPerSecond: Math.round(signature),
      splitterMegabytesPerSecond: Math.round(splitter),
      ratio: Number((signature / splitter).toFixed(3)),
    }),
  );
}

/** Of bait for backtracking and endless parts, how much longer four times as much takes: 4 is linear. */
const GROWTH = 4;
/** Microseconds below which the clock of a thread tells nothing. */
const CLOCK_STEP = 10_000;
const bait: Readonly<Record<string, string>> = {
  'one line': 'error: x ',
  escapes: '\x1b]8;;error\x1b[',
  'short lines': 'error\n',
  slashes: '/a',
  quotes: `error: "'"'\`"\\"\n`,
  tags: '<testcase name="',
  'nested lists': '{"runs":[',
  headings: '▶ a\n',
  'failing tests': '✖ a (1.5ms)\n',
};
for (const [what, text] of Object.entries(bait)) {
  const take = (bytes: number): number => {
    const input = Buffer.from(text.repeat(Math.ceil(bytes / text.length)));
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round += 1) {
      const before = processorTime();
      read(input);
      best = Math.min(best, processorTime() - before);
    }
    return Math.max(best, CLOCK_STEP);
  };
  take(MEBIBYTE);
  const growth = take(GROWTH * MEBIBYTE) / take(MEBIBYTE);
  console.log(
    JSON.stringify({
      measure: `hostile output (${what}), time of 4 MiB over 1 MiB`,
      growth: Number(growth.toFixed(1)),
    }),
  );
}

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

/** Whole outputs, one after the other, up to the size: what one gate that runs everything prints. */
function mixed(): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (let at = 0; size < MIXED_BYTES; at += 1) {
    const part = outputs[at % outputs.length]?.bytes ?? Buffer.alloc(0);
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

/**
 * What reading the failing set from real output costs, against a line splitter over the same bytes.
 *
 * - *Logs of CI jobs*, the measure that counts: one output for each tool of which the project holds both a long run in
 *   which nothing fails (`logs/`) and outputs that fail (the fixtures of the signatures). Each is 256 KiB, as such jobs
 *   print: 10 % from setting up and from services that log (packages, files, JSON and text lines), 75 % of the tool's
 *   passing run, 15 % of its failing outputs at the end. Each is read for itself, by a reader of its own, in chunks of
 *   64 KiB. Numbers of three digits and more change from one repetition to the next, so no line is known from before.
 * - *Long runs with nothing failing*: those of `logs/` alone, 2 MiB each.
 * - *Every failing output*: all fixtures of all tools, each with its own bytes, one after the other in one output, so that
 *   every reader is awake: the hardest there is, and nothing that anybody prints.
 *
 * `--kinds` prints the speed of each log, and of each tool's failing outputs, too. Prints a line of JSON for each measure.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOutputReader } from '@headway/signatures';

const MEBIBYTE = 1024 * 1024;
const LOG_BYTES = MEBIBYTE / 4;
const QUIET_BYTES = 2 * MEBIBYTE;
const FAILING_BYTES = 8 * MEBIBYTE;
const CHUNK_BYTES = 64 * 1024;
const ROUNDS = 5;
/** From here on the clock of a thread, and its warming up, matter little. Microseconds. */
const LEAST_TIME = 50_000;
const [SETUP, PASSING] = [0.1, 0.75];

const fixtures = join(import.meta.dirname, '../../packages/domain/signatures/fixtures');
const logs = join(import.meta.dirname, 'logs');
const setup = ['apt-get', 'tsc-files', 'pino', 'python-logging'];
/** A log's name, and the tools whose failing outputs go with it. */
const jobs: Readonly<Record<string, readonly string[]>> = {
  'cargo-test': ['cargo', 'rustc'],
  'cmake-make-ctest': ['ctest', 'gcc', 'make'],
  'go-test-verbose': ['go-test'],
  jest: ['jest'],
  mocha: ['mocha'],
  'node-test-spec': ['node-test'],
  'node-test-tap': ['tap'],
  'prove-verbose': ['prove'],
  pytest: ['pytest', 'flake8', 'mypy'],
  'pytest-verbose': ['pytest'],
  'rspec-documentation': ['rspec', 'rubocop'],
  'unittest-verbose': ['unittest'],
  'vitest-verbose': ['vitest', 'eslint', 'typescript'],
};

const logOf = (name: string): Buffer => readFileSync(join(logs, `${name}.txt`));
const failingOf = (tool: string): Buffer[] =>
  readdirSync(join(fixtures, tool))
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => readFileSync(join(fixtures, tool, name)));
const tools = readdirSync(fixtures, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

/** Another run of the same: longer numbers are other ones. */
function varied(bytes: Buffer, round: number): Buffer {
  const digits = /\d{3,}/g;
  return Buffer.from(
    bytes.toString().replace(digits, (text) => String((Number(text) + round * 7) % 10 ** text.length)),
  );
}

/** The outputs one after the other, again and again, up to the size. */
function repeated(outputs: readonly Buffer[], bytes: number, from = 0): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (let at = from; size < bytes; at += 1) {
    const part = varied(outputs[at % outputs.length] ?? Buffer.alloc(0), Math.floor(at / outputs.length));
    parts.push(part, Buffer.from('\n'));
    size += part.length + 1;
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

/** The job's whole log, see above. `at` chooses with which of the failing outputs it begins. */
function jobLog(name: string, at: number): Buffer {
  return Buffer.concat([
    repeated(setup.map(logOf), SETUP * LOG_BYTES, at),
    Buffer.from('\n'),
    repeated([logOf(name)], PASSING * LOG_BYTES, at),
    Buffer.from('\n'),
    repeated((jobs[name] ?? []).flatMap(failingOf), (1 - SETUP - PASSING) * LOG_BYTES, 5 * at),
  ]);
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

/** MB/s of the fastest round, after one that is not counted. A round is long enough for the clock of a thread. */
function speed(work: (bytes: Buffer) => number, outputs: readonly Buffer[]): number {
  let best = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = processorTime();
    let [bytes, took] = [0, 0];
    while (took < LEAST_TIME) {
      for (const output of outputs) {
        work(output);
        bytes += output.length;
      }
      took = processorTime() - before;
    }
    if (round > 0) best = Math.max(best, bytes / took);
  }
  return best;
}

function measure(what: string, outputs: readonly Buffer[]): void {
  const signature = speed(read, outputs);
  const splitter = speed(split, outputs);
  console.log(
    JSON.stringify({
      measure: `signature of ${what}, one thread`,
      outputs: outputs.length,
      megabytes: Number((outputs.reduce((sum, bytes) => sum + bytes.length, 0) / 1e6).toFixed(1)),
      megabytesPerSecond: Math.round(signature),
      splitterMegabytesPerSecond: Math.round(splitter),
      ratio: Number((signature / splitter).toFixed(3)),
    }),
  );
}

const everyKind = process.argv.includes('--kinds');
const jobLogs = new Map(Object.keys(jobs).map((name) => [name, [0, 1, 2, 3].map((at) => jobLog(name, at))]));
measure('logs of CI jobs, mostly quiet', [...jobLogs.values()].flat());
if (everyKind) for (const [name, outputs] of jobLogs) measure(`logs of CI jobs (${name})`, outputs);

const quiet = [...setup, ...Object.keys(jobs)].map((name) => ({ name, bytes: repeated([logOf(name)], QUIET_BYTES) }));
measure(
  'long runs with nothing failing',
  quiet.map(({ bytes }) => bytes),
);
if (everyKind) for (const { name, bytes } of quiet) measure(`a long run with nothing failing (${name})`, [bytes]);

measure('every failing output of every tool', [repeated(tools.flatMap(failingOf), FAILING_BYTES)]);
if (everyKind) for (const tool of tools) measure(`failing outputs (${tool})`, [repeated(failingOf(tool), MEBIBYTE)]);

/** Of bait for backtracking and endless parts, how much longer four times as much takes: 4 is linear. */
const GROWTH = 4;
/** The smaller of the two inputs takes {@link LEAST_TIME}, unless it gets longer than this. */
const MOST_BYTES = 64 * MEBIBYTE;
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
    return best;
  };
  let bytes = MEBIBYTE;
  while (bytes < MOST_BYTES && take(bytes) < LEAST_TIME) bytes *= 2;
  const [small, large] = [take(bytes), take(GROWTH * bytes)];
  console.log(
    JSON.stringify({
      measure: `hostile output (${what}), time of ${GROWTH} times as much`,
      mebibytes: bytes / MEBIBYTE,
      milliseconds: Math.round(small / 1_000),
      growth: Number((large / small).toFixed(1)),
    }),
  );
}

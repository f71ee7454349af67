import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** A log file is set aside as `.1` when it has this size, replacing the one set aside before. */
export const LOG_BYTES = 10 * 1024 * 1024;
const LINE_CHARACTERS = 64 * 1024;
const LAST_LINES = 20;

/** A log file with a bounded size, and the last lines written to it. */
export function logFile(folder: string, name: string, mostBytes = LOG_BYTES) {
  const path = join(folder, `${name}.log`);
  let file = openSync(path, 'a', 0o600);
  let bytes = fstatSync(file).size;
  const last: string[] = [];
  return {
    path,
    write(line: string): void {
      last.push(line);
      if (last.length > LAST_LINES) last.shift();
      bytes += writeSync(file, `${line}\n`);
      if (bytes < mostBytes) return;
      closeSync(file);
      renameSync(path, `${path}.1`);
      file = openSync(path, 'a', 0o600);
      bytes = 0;
    },
    lastLines: (): string => last.map((line) => `    ${line}`).join('\n'),
  };
}

export type LogFile = ReturnType<typeof logFile>;

/** Calls `take` with each line of a stream; a line that never ends is passed on in parts. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    if (rest.length > LINE_CHARACTERS) {
      take(rest);
      rest = '';
    }
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => {});
}

const WARNING = 40;
const ERROR = 50;

/** What of a service's output belongs on the terminal: its warnings and errors, and whatever is no log line at all. */
export function forTerminal(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry !== 'object' || entry === null || !('level' in entry)) return line;
  const { level, msg, err } = entry as { level: unknown; msg?: unknown; err?: { message?: unknown } };
  if (typeof level !== 'number' || level < WARNING) return undefined;
  const cause = typeof err?.message === 'string' && err.message !== msg ? `: ${err.message}` : '';
  return `${level >= ERROR ? 'error' : 'warning'}: ${typeof msg === 'string' ? msg : line}${cause}`;
}

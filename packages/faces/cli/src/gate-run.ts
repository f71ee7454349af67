import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createOutputReader, type OutputReading, type ReadingOptions } from '@headway/signatures';
import { KeptOutput } from './report/kept-output.ts';

/** What is known of a gate when it has ended. */
export interface GateRun {
  /** The gate's own exit code; 128+n when signal n ended it, 127 without such a command, 126 where it may not run. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly reading: OutputReading;
  readonly output: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly durationMs: number;
  /** Why the command could not be started. */
  readonly notStarted: string | null;
}

export interface Streams {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** After the gate's process has ended: how long its pipes, held open by what it left running, may be silent. */
const LINGER_MS = 1_000;

/**
 * Runs a command with its output passed through byte by byte, each stream to its own, and its standard input inherited.
 * Signals that only this process gets are passed on; the terminal sends its own to both.
 */
export async function runGate(
  command: string,
  args: readonly string[],
  streams: Streams,
  reading: ReadingOptions = {},
): Promise<GateRun> {
  const reader = createOutputReader(reading);
  const kept = new KeptOutput();
  const startedAt = new Date();
  const began = performance.now();
  const ending = await runChild(command, args, streams, (chunk, channel) => {
    reader.push(chunk, channel);
    kept.push(chunk);
  });
  const durationMs = Math.round((performance.now() - began) * 1_000) / 1_000;
  return {
    ...ending,
    reading: reader.end({ exitCode: ending.exitCode }),
    output: kept.text(),
    startedAt: startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    durationMs,
  };
}

type Ending = Pick<GateRun, 'exitCode' | 'signal' | 'notStarted'>;

function runChild(
  command: string,
  args: readonly string[],
  streams: Streams,
  onChunk: (chunk: Buffer, channel: string) => void,
): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['inherit', 'pipe', 'pipe'] });
    const release = passSignals(child);
    const idle = [
      passThrough(child.stdout, streams.stdout, (chunk) => onChunk(chunk, 'stdout')),
      passThrough(child.stderr, streams.stderr, (chunk) => onChunk(chunk, 'stderr')),
    ];
    const finish = (ending: Ending): void => {
      release();
      resolve(ending);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      const missing = error.code === 'ENOENT';
      const notStarted = missing ? `there is no command ${command}` : `${command} cannot be run (${error.code})`;
      finish({ exitCode: missing ? 127 : 126, signal: null, notStarted });
    });
    child.on('exit', () => {
      const timer = setInterval(() => {
        if (!idle.every((isIdle) => isIdle(LINGER_MS))) return;
        child.stdout.destroy();
        child.stderr.destroy();
      }, LINGER_MS / 4);
      child.on('close', () => clearInterval(timer));
    });
    child.on('close', (code, signal) => {
      if (child.pid === undefined) return;
      finish({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal, notStarted: null });
    });
  });
}

/** Copies a stream with back pressure. The answer tells whether nothing came, and nothing waits, for so long. */
function passThrough(from: Readable, to: Writable, onChunk: (chunk: Buffer) => void): (ms: number) => boolean {
  let last = performance.now();
  let blocked = false;
  const broken = (): void => {
    // Whoever read our output has gone. The gate is told the same way as without us: its next write fails.
    from.destroy();
  };
  to.on('error', broken);
  from.on('data', (chunk: Buffer) => {
    last = performance.now();
    onChunk(chunk);
    if (to.write(chunk)) return;
    blocked = true;
    from.pause();
    to.once('drain', () => {
      blocked = false;
      last = performance.now();
      from.resume();
    });
  });
  from.on('close', () => to.off('error', broken));
  return (ms) => !blocked && performance.now() - last >= ms;
}

function passSignals(child: ChildProcess): () => void {
  const onTerminal = process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true;
  const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'];
  const pass = (signal: NodeJS.Signals): void => {
    const sentByTerminal = onTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
    if (!sentByTerminal) child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, pass);
  return () => {
    for (const signal of forwarded) process.off(signal, pass);
  };
}

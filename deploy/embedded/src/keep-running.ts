import { setTimeout as pause } from 'node:timers/promises';
import type { Guarded } from './guarded.ts';
import type { ProcessRecord } from './leftovers.ts';
import { eachLine, forTerminal, type LogFile } from './logs.ts';
import { StartError, type Terminal } from './terminal.ts';

export const FIRST_RESTART_MS = 500;
export const LONGEST_RESTART_MS = 30_000;
/** A process that ran this long starts again as if it had never failed. */
const STEADY_MS = 60_000;
/** While Headway starts, a process that ends this often makes the start fail. */
export const START_ATTEMPTS = 4;

export interface KeepOptions {
  readonly name: string;
  /** Called for the first start and for each one after a crash. */
  readonly launch: () => Promise<Guarded>;
  readonly log: LogFile;
  readonly record: ProcessRecord;
  readonly terminal: Terminal;
  /** Whether its output is log lines of which warnings are shown; else nothing of it is. */
  readonly showWarnings: boolean;
}

/** A process that is started again, after a growing pause, whenever it ends without having been asked to. */
export interface Kept {
  readonly name: string;
  readonly log: LogFile;
  /** Rejects with a {@link StartError} when it ended too often before {@link Kept.started} was called. */
  readonly gaveUp: Promise<never>;
  readonly running: () => boolean;
  started(): void;
  stop(): Promise<void>;
  kill(): void;
}

export function keepRunning(options: KeepOptions): Kept {
  const { name, launch, log, record, terminal } = options;
  const stopping = new AbortController();
  let current: Guarded | undefined;
  let started = false;
  let fail: (error: Error) => void = () => {};
  const gaveUp = new Promise<never>((_, reject) => {
    fail = reject;
  });
  gaveUp.catch(() => {});

  const take = (line: string): void => {
    log.write(line);
    const shown = options.showWarnings ? forTerminal(line) : undefined;
    if (shown !== undefined) terminal.say(`[${name}] ${shown}`);
  };

  async function runOnce(): Promise<{ how: string; ranMs: number }> {
    const begun = performance.now();
    try {
      current = await launch();
    } catch (error) {
      // No free port, no more processes: what stops a launch may pass, as what ends a process may.
      return { how: `could not be started (${(error as Error).message})`, ranMs: 0 };
    }
    record.add(name, current.group);
    eachLine(current.stdout, take);
    eachLine(current.stderr, take);
    if (stopping.signal.aborted) await current.stop();
    const { code } = await current.exited;
    record.remove(name);
    return { how: `ended with exit code ${code}`, ranMs: performance.now() - begun };
  }

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const { how, ranMs } = await runOnce();
      if (stopping.signal.aborted) return;
      failures = ranMs > STEADY_MS ? 1 : failures + 1;
      if (!started && failures >= START_ATTEMPTS) {
        throw new StartError(
          `${name} ${how}, ${failures} times while starting. The end of ${log.path}:\n${log.lastLines()}`,
        );
      }
      const wait = Math.min(FIRST_RESTART_MS * 2 ** (failures - 1), LONGEST_RESTART_MS);
      terminal.say(`${name} ${how}; starting it again in ${wait / 1000} s (log: ${log.path})`);
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const done = loop().catch((error: unknown) => fail(error instanceof Error ? error : new Error(String(error))));
  return {
    name,
    log,
    gaveUp,
    running: () => current?.running() ?? false,
    started: () => {
      started = true;
    },
    async stop() {
      stopping.abort();
      await current?.stop();
      await done;
    },
    kill: () => {
      stopping.abort();
      current?.kill();
    },
  };
}

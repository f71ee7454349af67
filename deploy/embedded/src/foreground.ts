import { readSettings } from './settings.ts';
import type { Programs, Supervisor } from './supervise.ts';
import { supervise } from './supervise.ts';
import { StartError, type Terminal } from './terminal.ts';

/** One key press may arrive more than once, by the terminal and by each program in between that passes signals on. */
const SAME_PRESS_MS = 750;

/** Connects a supervisor with the process it runs in: signals, the end of the parent, and the exit code. */
export async function runForeground(programs: Programs, terminal: Terminal): Promise<void> {
  let supervisor: Supervisor;
  try {
    supervisor = supervise(readSettings(process.env, process.cwd()), programs, terminal);
  } catch (error) {
    return giveUp(error, terminal);
  }
  let firstAsked: number | undefined;
  const ask = (): void => {
    firstAsked ??= performance.now();
    if (performance.now() - firstAsked > SAME_PRESS_MS) supervisor.kill();
    else supervisor.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  // The program that started this one holds the other end of the channel; it closes when that program is killed.
  process.once('disconnect', () => supervisor.stop());
  // Output may go to a terminal that is gone by now; that must not keep this process from stopping what it started.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await supervisor.done;
    process.exit(0);
  } catch (error) {
    giveUp(error, terminal);
  }
}

function giveUp(error: unknown, terminal: Terminal): never {
  terminal.say(
    error instanceof StartError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error),
  );
  process.exit(1);
}

import type { Guarded } from './guarded.ts';
import { eachLine, type LogFile } from './logs.ts';
import type { Supervision } from './supervision.ts';
import { StartError } from './terminal.ts';

const MOST_MS = 300_000;

/**
 * Waits for a program that is to end by itself, its output going to `log`; it is asked to end where Headway is, or where it takes too long.
 * @throws {StartError} with the end of its output where it fails
 */
export async function runToEnd(
  name: string,
  child: Guarded,
  log: LogFile,
  { record, stopping }: Pick<Supervision, 'record' | 'stopping'>,
): Promise<void> {
  record.add(name, child.group);
  eachLine(child.stdout, log.write);
  eachLine(child.stderr, log.write);
  const stop = (): void => void child.stop();
  stopping.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(stop, MOST_MS);
  if (stopping.aborted) stop();
  const { code } = await child.exited;
  clearTimeout(timer);
  stopping.removeEventListener('abort', stop);
  record.remove(name);
  stopping.throwIfAborted();
  if (code !== 0) {
    throw new StartError(`${name} failed with exit code ${code}. The end of ${log.path}:\n${log.lastLines()}`);
  }
}

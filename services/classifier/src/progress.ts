import type { Logger } from './ports.ts';

/**
 * Writes how far a reader got: at most once an interval, and the newest value soon after the last note. What is written
 * is a hint, so a failure is logged and the next note tries again.
 */
export interface Progress {
  note(sequence: number): void;
}

export function createProgress(
  options: {
    readonly intervalMs: number;
    readonly signal: AbortSignal;
    readonly logger: Logger;
    readonly name: string;
  },
  write: (sequence: number) => Promise<void>,
): Progress {
  let newest = 0;
  let scheduled = false;
  const flush = async () => {
    const sequence = newest;
    try {
      await write(sequence);
    } catch (error) {
      options.logger.warn({ err: error, reader: options.name }, 'the position was not written');
    }
    scheduled = false;
    if (newest > sequence) schedule();
  };
  const schedule = () => {
    if (scheduled || options.signal.aborted) return;
    scheduled = true;
    setTimeout(() => void flush(), options.intervalMs).unref();
  };
  return {
    note: (sequence) => {
      newest = Math.max(newest, sequence);
      schedule();
    },
  };
}

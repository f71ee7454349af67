import type { Logger } from './ports.ts';

/**
 * Writes how far a reader got: at most once an interval, and the newest value soon after the last note. A failure is
 * logged and the newest value tried again, the longer after the more there were in a row: others wait for it, and there
 * may be no further note.
 */
export interface Progress {
  note(sequence: number): void;
}

/** The longest wait after a failure. */
const LONGEST_RETRY_MS = 5_000;

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
  let written = 0;
  let failures = 0;
  let scheduled = false;
  const flush = async () => {
    const sequence = newest;
    try {
      await write(sequence);
      written = sequence;
      failures = 0;
    } catch (error) {
      failures += 1;
      options.logger.warn({ err: error, reader: options.name }, 'the position was not written');
    }
    scheduled = false;
    if (newest > written) schedule();
  };
  const schedule = () => {
    if (scheduled || options.signal.aborted) return;
    scheduled = true;
    const delay = Math.max(options.intervalMs, Math.min(LONGEST_RETRY_MS, options.intervalMs * 2 ** failures));
    setTimeout(() => void flush(), delay).unref();
  };
  return {
    note: (sequence) => {
      newest = Math.max(newest, sequence);
      schedule();
    },
  };
}

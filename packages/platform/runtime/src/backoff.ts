import { setTimeout as delay } from 'node:timers/promises';

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const defaultBackoff: Backoff = { firstMs: 50, longestMs: 5_000 };

/**
 * How long to wait before the n-th try again (from 1): doubled each time up to the longest, of which the upper half is
 * jitter, so that many waiters do not come back at once. `random` is in [0, 1).
 */
export function backoffDelay(failures: number, backoff: Backoff, random: number): number {
  const full = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random;
}

/** Waits, or ends early when the signal aborts. Never rejects. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const pause: Pause = async (milliseconds, signal) => {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch {
    // Aborted: the caller looks at the signal.
  }
};

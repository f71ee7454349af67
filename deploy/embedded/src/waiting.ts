import { setTimeout as pause } from 'node:timers/promises';

export const POLL_MS = 50;

/** Asks again and again until `condition` gives something else than undefined; undefined itself once `deadlineMs` have passed. */
export async function until<Value>(
  condition: () => Promise<Value | undefined> | Value | undefined,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Value | undefined> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined) return value;
    if (performance.now() >= end || signal?.aborted === true) return undefined;
    await pause(POLL_MS);
  }
}

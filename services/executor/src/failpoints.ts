import { setTimeout as delay } from 'node:timers/promises';

/** The named places of design 4.4 that lie in this process. */
export const failpointNames = [
  'c01',
  'c02',
  'c03',
  'c04',
  'c05',
  'c06',
  'c07',
  'c08',
  'c09',
  'c10',
  'c11',
  'c12',
  'c13',
  'r01',
  'r03',
] as const;
export type FailpointName = (typeof failpointNames)[number];

/**
 * Where a test ends or stops this process. In a process without `HEADWAY_EXECUTOR_FAILPOINTS` there are none, and a place
 * costs one comparison with `null`.
 */
export type Failpoints = ((name: FailpointName) => Promise<void>) | null;

/**
 * Reads `c07=kill`, `c08=stop@150`, with commas between: SIGKILL or SIGSTOP to this very process when the place is reached
 * for the first time, after so many milliseconds where they are given. Throws `RangeError` on anything else.
 */
export function readFailpoints(text: string): Failpoints {
  if (text === '') return null;
  const armed = new Map<string, { readonly signal: 'SIGKILL' | 'SIGSTOP'; readonly afterMs: number }>();
  for (const part of text.split(',')) {
    const match = /^([a-z]\d\d)=(kill|stop)(?:@(\d{1,5}))?$/.exec(part);
    if (match === null || !failpointNames.includes(match[1] as FailpointName))
      throw new RangeError(`HEADWAY_EXECUTOR_FAILPOINTS: ${JSON.stringify(part)} is no failpoint`);
    armed.set(match[1] as string, {
      signal: match[2] === 'kill' ? 'SIGKILL' : 'SIGSTOP',
      afterMs: Number(match[3] ?? 0),
    });
  }
  return async (name) => {
    const found = armed.get(name);
    if (found === undefined) return;
    armed.delete(name);
    if (found.afterMs > 0) await delay(found.afterMs);
    process.kill(process.pid, found.signal);
    // The signal takes effect before the next turn of the loop.
    await delay(1);
  };
}

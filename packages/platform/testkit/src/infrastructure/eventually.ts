const POLL_MS = 20;

export interface EventuallyOptions {
  /** How long to go on trying, in milliseconds. */
  readonly within?: number;
  /** What is waited for, for the error. */
  readonly what?: string;
}

/**
 * Calls `probe` until it gives a value other than `false`, `null` and `undefined` without throwing, and returns that.
 * Throws with the last error when the deadline has passed.
 */
export async function eventually<Value>(
  probe: () => Value | Promise<Value>,
  { within = 10_000, what = 'the expected' }: EventuallyOptions = {},
): Promise<NonNullable<Exclude<Value, false>>> {
  const deadline = Date.now() + within;
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== false && value !== null && value !== undefined) return value as NonNullable<Exclude<Value, false>>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${within} ms`, { cause });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

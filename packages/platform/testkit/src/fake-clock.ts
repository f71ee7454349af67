import type { Clock } from '@headway/kernel';

export interface FakeClock extends Clock {
  /** Moves time forward and wakes who waited until then, in the order of their times. */
  advance(milliseconds: number): void;
  /** Resolves when the clock has been advanced by as much. */
  wait(milliseconds: number): Promise<void>;
}

/** 2026-01-01T00:00:00Z, where a fake clock starts unless told. */
const START = 1_767_225_600_000;

/** A clock that stands still until a test moves it. */
export function fakeClock(start: number = START): FakeClock {
  let now = start;
  let waiting: { readonly until: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    advance(milliseconds) {
      if (!(milliseconds >= 0)) throw new RangeError(`a clock never goes back: ${milliseconds} ms`);
      now += milliseconds;
      const due = waiting.filter((sleeper) => sleeper.until <= now).sort((a, b) => a.until - b.until);
      waiting = waiting.filter((sleeper) => sleeper.until > now);
      for (const sleeper of due) sleeper.wake();
    },
    wait: (milliseconds) =>
      milliseconds <= 0
        ? Promise.resolve()
        : new Promise((wake) => {
            waiting.push({ until: now + milliseconds, wake });
          }),
  };
}

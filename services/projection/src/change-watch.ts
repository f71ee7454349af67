/** Tells those who wait that something was committed. */
export interface ChangeWatch {
  /** Commits told so far. */
  readonly told: number;
  notify(): void;
  /**
   * Settles when more than `seen` commits were told, after `most` milliseconds, or when `signal` aborts. Never rejects.
   * Take `seen` from `told` before looking at the store, so that no commit falls between the look and the wait.
   */
  next(seen: number, most: number, signal?: AbortSignal): Promise<void>;
}

/** Commits of another process are not heard here: that is what `most` is for. */
export function createChangeWatch(): ChangeWatch {
  const waiting = new Set<() => void>();
  let told = 0;
  return {
    get told() {
      return told;
    },
    notify() {
      told += 1;
      for (const wake of waiting) wake();
    },
    next(seen, most, signal) {
      if (told > seen || signal?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake);
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, most);
        waiting.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
      });
    },
  };
}

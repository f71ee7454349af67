/** Tells those who wait that something was committed. */
export interface ChangeWatch {
  notify(): void;
  /** Settles at the next commit of this process, after `most` milliseconds, or when `signal` aborts. Never rejects. */
  next(most: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Commits of another process are not heard here: that is what `most` is for. Whoever waits looks at the store again
 * after each wake, so that a lost or an extra one does no harm.
 */
export function createChangeWatch(): ChangeWatch {
  const waiting = new Set<() => void>();
  return {
    notify() {
      for (const wake of [...waiting]) wake();
    },
    next(most, signal) {
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
        if (signal?.aborted === true) wake();
      });
    },
  };
}

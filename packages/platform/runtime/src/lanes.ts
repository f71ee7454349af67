/** Steps of one key run one after the other; those of different keys at once, up to a limit. */
export interface Lanes {
  /** Resolves when the step was taken in: at once while there is room, else when another has ended. Steps never reject. */
  start(key: string, step: () => Promise<void>): Promise<void>;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

export function createLanes(atOnce: number): Lanes {
  const newest = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  return {
    async start(key, step) {
      while (running.size >= atOnce) await Promise.race(running);
      const own = (newest.get(key) ?? Promise.resolve()).then(step);
      running.add(own);
      newest.set(key, own);
      void own.finally(() => {
        running.delete(own);
        if (newest.get(key) === own) newest.delete(key);
      });
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

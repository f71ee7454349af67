import type { StreamPosition } from '@headway/contracts';

/** What stands under an identity. */
export interface Standing {
  readonly content: string;
  /** `null` where only the archive knows it, which names no generation. */
  readonly position: StreamPosition | null;
}

/** Identities kept in memory between the archive and the end of the log. */
export const INDEX_ENTRIES = 400_000;

/**
 * The identities of everything in the log after the archive's position, in memory. Grows as the log grows and shrinks
 * as the archive follows; `full` is true once it holds as many as it may.
 */
export function createRecentIndex(most: number = INDEX_ENTRIES) {
  const standing = new Map<string, Standing & { readonly position: StreamPosition }>();
  return {
    get size() {
      return standing.size;
    },
    get full() {
      return standing.size >= most;
    },
    clear(): void {
      standing.clear();
    },
    find: (key: string): Standing | undefined => standing.get(key),
    /** What came first under a key stands; a second entry changes nothing. */
    enter(key: string, content: string, position: StreamPosition): void {
      if (!standing.has(key)) standing.set(key, { content, position });
    },
    /**
     * Forgets what the archive covers. Entries stand nearly in the order of their sequences; the few that do not are
     * forgotten one of the next times.
     */
    trim(archived: { readonly generation: number; readonly sequence: number }): void {
      for (const [key, { position }] of standing) {
        const covered =
          position.generation < archived.generation ||
          (position.generation === archived.generation && position.sequence <= archived.sequence);
        if (!covered) return;
        standing.delete(key);
      }
    },
  };
}
export type RecentIndex = ReturnType<typeof createRecentIndex>;

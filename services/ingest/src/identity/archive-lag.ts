import type { Clock } from '@headway/kernel';

/** Nothing is taken while the oldest message that is not archived is older than this. Milliseconds. */
export const ARCHIVE_LAG_MS = 60_000;
/** One remembered place for so much time of the log. Milliseconds. */
const STEP_MS = 500;

/**
 * How old the oldest message is that the archive does not cover. The log's own times are compared with each other, and
 * the time since the newest one was read is counted by the clock of this process: what clocks of two hosts say is never
 * compared.
 */
export function createArchiveLag(clock: Clock) {
  /** Places in the order of the log, thinned; all but the first are behind the archive. */
  let places: { sequence: number; recordedAt: number }[] = [];
  let newest = { sequence: 0, recordedAt: 0, readAt: 0 };
  let archived = 0;
  return {
    read(sequence: number, recordedAt: number): void {
      newest = { sequence, recordedAt: Math.max(recordedAt, newest.recordedAt), readAt: clock.now() };
      if (sequence <= archived) return;
      const last = places.at(-1);
      if (last === undefined || recordedAt - last.recordedAt >= STEP_MS) places.push({ sequence, recordedAt });
    },
    archivedUpTo(sequence: number): void {
      archived = sequence;
      if (sequence >= newest.sequence) {
        places = [];
        return;
      }
      // The oldest waiting message stands at or after the last place that is archived; that one's time is early enough.
      const waiting = places.findIndex((place) => place.sequence > sequence);
      if (waiting === -1) places = places.slice(-1);
      else if (waiting > 1) places = places.slice(waiting - 1);
    },
    /** Milliseconds; 0 = everything that was read is archived. */
    lag(): number {
      const [oldest] = places;
      if (oldest === undefined) return 0;
      return newest.recordedAt - oldest.recordedAt + Math.max(0, clock.now() - newest.readAt);
    },
    clear(): void {
      places = [];
      newest = { sequence: 0, recordedAt: 0, readAt: 0 };
      archived = 0;
    },
  };
}
export type ArchiveLag = ReturnType<typeof createArchiveLag>;

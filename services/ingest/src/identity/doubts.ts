import { DUPLICATE_WINDOW_SECONDS, type EventLog, type NewMessage } from '@headway/eventlog';
import type { Clock } from '@headway/kernel';
import type { Entry } from '../intake/pack.ts';
import type { RecentIndex } from './known.ts';

/** So long after its first try an append may be repeated under its message id; well within the server's window. */
const REPEAT_MS = (DUPLICATE_WINDOW_SECONDS - 40) * 1_000;
/** Bytes of appends in doubt that are kept; beyond, ingest takes nothing until the log answers again. */
export const DOUBT_BYTES = 32 * 1024 * 1024;

interface Doubt {
  readonly message: NewMessage;
  readonly entries: readonly Entry[];
  readonly since: number;
}

export interface DoubtsOptions {
  readonly log: EventLog;
  readonly recent: RecentIndex;
  readonly clock: Clock;
  /** Settles when the recent index holds everything that is in the log now; `false` = it does not get there. */
  readonly caughtUp: () => Promise<boolean>;
}

/**
 * Appends of which nobody knows whether they stand. A client that was told to try again may group its events otherwise,
 * so that the server would not notice; before one of them is taken again its doubt is settled: by the same append once
 * more, or, when that is too old for the server to recognise, by reading to the end of the log.
 */
export function createDoubts({ log, recent, clock, caughtUp }: DoubtsOptions) {
  const byKey = new Map<string, Doubt>();
  let bytes = 0;

  const forget = (doubt: Doubt) => {
    bytes -= doubt.message.payload.length;
    for (const { key } of doubt.entries) if (byKey.get(key) === doubt) byKey.delete(key);
  };

  const settle = async (doubt: Doubt): Promise<boolean> => {
    if (clock.now() - doubt.since < REPEAT_MS) {
      const again = await log.append(doubt.message);
      if (again.outcome === 'unavailable') return false;
      // A conflict: another message of the work follows the one that this one expected, so it does not stand and cannot.
      if (again.outcome !== 'conflict')
        for (const { key, content } of doubt.entries) recent.enter(key, content, again.position);
    } else if (!(await caughtUp())) return false;
    if (doubt.entries.some(({ key }) => byKey.get(key) === doubt)) forget(doubt);
    return true;
  };

  return {
    /** After the log was put back: what stands in it is read anew, and what was in doubt is not sent again. */
    clear(): void {
      byKey.clear();
      bytes = 0;
    },
    get full() {
      return bytes >= DOUBT_BYTES;
    },
    add(message: NewMessage, entries: readonly Entry[]): void {
      const doubt = { message, entries, since: clock.now() };
      bytes += message.payload.length;
      for (const { key } of entries) byKey.set(key, doubt);
    },
    /** Settles the doubts about these keys: what stands is then in the recent index. Gives the keys still in doubt. */
    async settle(keys: readonly string[]): Promise<ReadonlySet<string>> {
      if (byKey.size === 0) return new Set();
      const doubts = new Set(keys.flatMap((key) => byKey.get(key) ?? []));
      await Promise.all([...doubts].map(settle));
      return new Set(keys.filter((key) => byKey.has(key)));
    },
    /** Settles those that are too old to be repeated, so that they do not stay for ever. */
    async settleOld(): Promise<void> {
      for (const doubt of new Set(byKey.values())) if (clock.now() - doubt.since >= REPEAT_MS) await settle(doubt);
    },
  };
}
export type Doubts = ReturnType<typeof createDoubts>;

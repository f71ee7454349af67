import { type EffectRecord, STREAMS } from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import type { Logger } from '@headway/runtime';
import type { Journal } from './ports.ts';
import { recordOf } from './relay.ts';

/** Epochs that may have been granted since the copy was made, and that no record on the bus tells of. */
export const UNSEEN_EPOCHS = 1_000_000;
/** Messages read of one operation's history. */
const HISTORY_BATCH = 1_000;

export interface RestoreCheck {
  /** Operations of which the bus knew more than the journal. */
  readonly behind: number;
  /** Operations that were STARTED and are UNCERTAIN now. */
  readonly marked: number;
}

/**
 * Compares the journal with the bus before anything runs (d01). Where the bus knows more, the database is an older copy of
 * itself: what the bus knows is taken over, all epochs rise above the highest seen, and nothing STARTED is believed.
 */
export async function recoverFromOlderCopy(
  journal: Pick<Journal, 'restore'>,
  log: Pick<EventLog, 'newestOfEach' | 'read'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<RestoreCheck> {
  let highest = 0;
  const ahead: { readonly message: LogMessage; readonly record: EffectRecord; readonly known: number }[] = [];
  for await (const batch of log.newestOfEach(STREAMS.effects, 'effect.>')) {
    const records = batch.flatMap((message) => {
      const record = recordOf(message);
      return record === null ? [] : [{ message, record }];
    });
    const versions = await journal.restore.versions(records.map(({ record }) => record.operation));
    for (const { message, record } of records) {
      highest = Math.max(highest, epochOf(record));
      const known = versions.get(record.operation) ?? 0;
      if (record.version > known) ahead.push({ message, record, known });
    }
  }
  if (ahead.length === 0) return { behind: 0, marked: 0 };
  logger.error({ operations: ahead.length }, 'the database is an older copy: the log knows more of these operations');
  for (const { message, record, known } of ahead) {
    const missing = await historyAfter(log, message, known, signal);
    const taken = await journal.restore.takeOver(record.operation, missing, message.sequence);
    if (!taken)
      throw new Error(
        `the history of operation ${record.operation} in the log does not follow the one in the database`,
      );
  }
  const marked = await journal.restore.afterRestore(highest, UNSEEN_EPOCHS);
  return { behind: ahead.length, marked };
}

const epochOf = (record: EffectRecord): number => {
  const epoch = (JSON.parse(record.entry) as { epoch?: unknown }).epoch;
  return typeof epoch === 'number' ? epoch : 0;
};

/** The records of one operation after a version, up to the newest message. Oldest first, each version once. */
async function historyAfter(
  log: Pick<EventLog, 'read'>,
  newest: LogMessage,
  known: number,
  signal: AbortSignal,
): Promise<readonly EffectRecord[]> {
  const found = new Map<number, EffectRecord>();
  const ending = new AbortController();
  const options = {
    stream: STREAMS.effects,
    filters: [newest.subject],
    after: 0,
    batch: HISTORY_BATCH,
    signal: AbortSignal.any([signal, ending.signal]),
  };
  for await (const { messages, caughtUp } of log.read(options)) {
    for (const message of messages) {
      const record = recordOf(message);
      if (record !== null && record.version > known) found.set(record.version, record);
    }
    if (caughtUp || (messages.at(-1)?.sequence ?? 0) >= newest.sequence) break;
  }
  ending.abort();
  return [...found.values()].sort((a, b) => a.version - b.version);
}

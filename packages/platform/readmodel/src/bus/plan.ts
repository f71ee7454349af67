import type { Bus, StreamDescription } from '@headway/eventlog';
import type { ArchivedMessage } from '../rows.ts';
import type { ArchivedEnd, BusRecords } from './records.ts';

/**
 * - `level`: nothing is to be done.
 * - `unfinished`: an earlier run ended before its last step.
 * - `tail`: the end is missing, and nothing stands in its place.
 * - `recreated`: another stream, which holds nothing that the archive contradicts.
 * - `occupied`: something else stands where the archive has messages.
 * - `missing`: there is no such stream.
 */
export type Found = 'level' | 'unfinished' | 'tail' | 'recreated' | 'occupied' | 'missing';

export interface StreamPlan {
  readonly stream: ArchivedEnd['stream'];
  readonly found: Found;
  readonly end: ArchivedEnd;
  readonly now: StreamDescription | null;
  /** Up to where stream and archive agree. */
  readonly agreed: number;
  /** Archived messages that will be written. */
  readonly toPublish: number;
  /** Messages in their place that will be moved behind them. */
  readonly newcomers: number;
  /** The stream's generation afterwards. */
  readonly generation: number;
}

export interface PlanParts {
  readonly bus: Pick<Bus, 'describe' | 'log'>;
  readonly records: Pick<BusRecords, 'archivedAt' | 'trimmedUpTo'>;
}

/** Compares a stream with its archive. Changes nothing. */
export async function planStream(parts: PlanParts, end: ArchivedEnd): Promise<StreamPlan> {
  const now = await parts.bus.describe(end.stream as StreamDescription['stream']);
  const last = now?.lastSequence ?? 0;
  const trimmed = await parts.records.trimmedUpTo(end.stream);
  const base = { stream: end.stream, end, now };
  if (now === null) {
    const toPublish = end.sequence - trimmed;
    return { ...base, found: 'missing', agreed: trimmed, toPublish, newcomers: 0, generation: end.generation + 1 };
  }
  const agreed = last === 0 ? 0 : await agreedUpTo(parts, end, now);
  const common = Math.min(last, end.sequence);
  const other = end.created !== null && end.created !== now.created;
  if (agreed < common) {
    const toPublish = end.sequence - trimmed;
    return {
      ...base,
      found: 'occupied',
      agreed,
      toPublish,
      newcomers: last - agreed,
      generation: end.generation + 1,
    };
  }
  const generation = other ? Math.max(end.generation, now.generation) + 1 : end.generation;
  const toPublish = end.sequence - Math.max(last, last === 0 ? trimmed : 0);
  const short = last < end.sequence || end.lostUpTo > last;
  const found = other
    ? 'recreated'
    : short
      ? 'tail'
      : now.restoring === true || now.generation !== end.generation || end.lostUpTo > 0
        ? 'unfinished'
        : 'level';
  return { ...base, found, agreed, toPublish: Math.max(0, toPublish), newcomers: 0, generation };
}

/** Messages before the place where they seem to part that are compared one by one. */
const COMPARED = 10_000;
const AT_ONCE = 64;

/**
 * The last sequence up to which stream and archive hold the same. Searched by halves, and then one by one a good way back:
 * where somebody wrote to a stream that had lost its tail, a report that was sent again may stand where it stood before, after
 * one that is new.
 */
async function agreedUpTo({ bus, records }: PlanParts, end: ArchivedEnd, now: StreamDescription): Promise<number> {
  const same = async (sequence: number): Promise<boolean> => {
    const [stored, archived] = await Promise.all([
      bus.log.at(now.stream, sequence),
      records.archivedAt(end.stream, sequence),
    ]);
    return stored !== null && archived !== null && sameMessage(stored, archived);
  };
  const first = Math.max(0, now.firstSequence - 1);
  let low = first;
  let high = Math.min(now.lastSequence, end.sequence);
  if (low >= high) return high;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await same(middle)) low = middle;
    else high = middle - 1;
  }
  for (let next = Math.max(first, low - COMPARED) + 1; next <= low; next += AT_ONCE) {
    const sequences = Array.from({ length: Math.min(AT_ONCE, low - next + 1) }, (_, index) => next + index);
    const differs = (await Promise.all(sequences.map(same))).indexOf(false);
    if (differs !== -1) return next + differs - 1;
  }
  return low;
}

export function sameMessage(
  one: Pick<ArchivedMessage, 'subject' | 'messageId' | 'payload'>,
  other: Pick<ArchivedMessage, 'subject' | 'messageId' | 'payload'>,
): boolean {
  return (
    one.subject === other.subject &&
    (one.messageId === other.messageId || one.messageId === undefined) &&
    Buffer.compare(one.payload, other.payload) === 0
  );
}

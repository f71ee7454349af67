import { PARTITIONS, type ReaderPosition, STREAMS, type StreamName, subjects } from '@headway/contracts';
import type { Bus } from '@headway/eventlog';
import { keepPolicies } from './keep-policies.ts';
import type { ArchivedEnd, BusRecords } from './records.ts';

/** Streams out of which what is old and archived is taken. */
export const TRIMMED_STREAMS: readonly StreamName[] = [STREAMS.evidence, STREAMS.acts];
/** Nothing younger is taken out: whoever looked at the stream before has long been answered. Seconds. */
export const YOUNGEST_TRIMMED_SECONDS = 3_600;

export interface TrimParts {
  readonly bus: Pick<Bus, 'describe' | 'log' | 'trim'>;
  readonly records: Pick<BusRecords, 'archivedEnds' | 'archivedAt' | 'noteTrim' | 'alone'>;
  readonly now: number;
}

export interface Trimmed {
  readonly stream: StreamName;
  /** Everything up to this sequence is, or would be, taken out; 0 = nothing. */
  readonly upTo: number;
  /** What bounds it: how far it is archived, and how far its readers have come. */
  readonly archived: number;
  readonly covered: number | null;
  readonly removed: number;
  /** Why nothing is taken out; `null` = something is, or nothing is old enough. */
  readonly refused: string | null;
}

/**
 * Takes out of the ageing streams what is older than an age, archived, and covered by those that read it. With `dryRun`
 * it only tells. The bound of each stream is noted before anything is taken out, and policies are kept in RECORD.
 */
export function trimBus(
  parts: TrimParts,
  { olderThanSeconds, dryRun }: { readonly olderThanSeconds: number; readonly dryRun: boolean },
): Promise<readonly Trimmed[]> {
  if (!(olderThanSeconds >= YOUNGEST_TRIMMED_SECONDS))
    throw new RangeError(`an age of ${olderThanSeconds} seconds is below ${YOUNGEST_TRIMMED_SECONDS}`);
  return parts.records.alone(async (lost) => {
    const ends = await parts.records.archivedEnds();
    const done: Trimmed[] = [];
    for (const stream of TRIMMED_STREAMS) {
      const end = ends.find((one) => one.stream === stream);
      const bound = await boundOf(parts, stream, end, parts.now - olderThanSeconds * 1_000);
      let removed = 0;
      lost.throwIfAborted();
      if (bound.upTo > 0 && !dryRun && end !== undefined) {
        if (stream === STREAMS.evidence) await keepPolicies(parts.bus.log, bound.upTo);
        await parts.records.noteTrim(stream, end.generation, bound.upTo);
        removed = await parts.bus.trim(stream, bound.upTo);
      }
      done.push({ ...bound, removed });
    }
    return done;
  });
}

async function boundOf(
  { bus, records }: TrimParts,
  stream: StreamName,
  end: ArchivedEnd | undefined,
  before: number,
): Promise<Omit<Trimmed, 'removed'>> {
  const nothing = { stream, upTo: 0, archived: end?.sequence ?? 0, covered: null };
  const now = await bus.describe(stream);
  if (now === null) return { ...nothing, refused: 'there is no such stream' };
  if (end === undefined) return { ...nothing, refused: 'nothing of it is archived' };
  if (now.restoring === true || now.generation !== end.generation || now.created !== end.created)
    return { ...nothing, refused: 'it is not the stream that was archived: run `headway bus restore`' };
  if (now.lastSequence < end.sequence || end.lostUpTo > 0)
    return { ...nothing, refused: 'it lost its tail: run `headway bus restore`' };
  const covered = stream === STREAMS.evidence ? await coveredByClassifier(bus) : null;
  // The newest message stays: by it a stream is recognised.
  const most = Math.min(end.sequence, covered ?? Number.POSITIVE_INFINITY, now.lastSequence - 1);
  const upTo = await newestBefore(records, end, before, now.firstSequence, most);
  return { stream, upTo, archived: end.sequence, covered, refused: null };
}

/** Up to where the works of every partition are folded. */
async function coveredByClassifier(bus: Pick<Bus, 'log'>): Promise<number> {
  const message = await bus.log.last(STREAMS.record, subjects.position('classifier'));
  if (message === null) return 0;
  const { positions } = JSON.parse(Buffer.from(message.payload).toString('utf8')) as ReaderPosition;
  const every = positions['evidence:*'] ?? 0;
  return Math.min(
    ...Array.from({ length: PARTITIONS }, (_, partition) => Math.max(every, positions[`evidence:${partition}`] ?? 0)),
  );
}

/** The newest archived message that is older than a time; 0 where none is. Times grow with the sequence. */
async function newestBefore(
  records: Pick<BusRecords, 'archivedAt'>,
  end: ArchivedEnd,
  before: number,
  first: number,
  most: number,
): Promise<number> {
  let low = Math.max(0, first - 1);
  let high = most;
  if (first === 0 || high <= low) return 0;
  const bottom = low;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const message = await records.archivedAt(end.stream, middle);
    if (message !== null && message.recordedAt < before) low = middle;
    else high = middle - 1;
  }
  return low === bottom ? 0 : low;
}

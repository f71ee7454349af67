import type { GapReport, StreamName } from '@headway/contracts';
import { ARCHIVE_READER } from '@headway/readmodel';
import { type Logger, pause } from '@headway/runtime';
import type { Ports } from './ports.ts';

/** Sequences that one look goes over. */
export const GAP_WINDOW = 20_000;
/** Between two looks at one stream. Milliseconds. */
const LOOK_AGAIN = 5_000;
/** Missing sequences that one look asks the log about; the others are asked about with the next. */
const ASKED = 200;
/** Missing sequences that are kept for the report. */
const KEPT = 100;

export interface GapScanner {
  /** What was found so far, by stream. */
  reports(): readonly GapReport[];
  /** Settles when the signal has aborted. Never rejects. */
  readonly ended: Promise<void>;
}

export interface ScanOptions {
  readonly ports: Pick<Ports, 'log' | 'views'>;
  readonly streams: readonly StreamName[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly lookAgainMs?: number;
}

/**
 * Proves that nothing was skipped: every sequence of a stream up to the position is in the archive, or is not in the log
 * either (it was deleted there). A sequence that the log holds and the archive does not was skipped. Goes over each
 * stream from its beginning once, and then over what comes; a restart begins anew.
 */
export function scanForGaps(options: ScanOptions): GapScanner {
  const reports = new Map<string, GapReport>();
  return { reports: () => [...reports.values()], ended: scan(options, reports) };
}

async function scan(options: ScanOptions, reports: Map<string, GapReport>): Promise<void> {
  const { streams, logger, signal, lookAgainMs = LOOK_AGAIN } = options;
  while (!signal.aborted) {
    let more = false;
    for (const stream of streams) {
      if (signal.aborted) return;
      try {
        more = (await look(options, stream, reports)) || more;
      } catch (error) {
        logger.warn({ err: error, stream }, 'the gap scanner could not look');
      }
    }
    await pause(more ? lookAgainMs / 100 : lookAgainMs, signal);
  }
}

/** Looks at the next window of a stream. Answers with whether there is more to look at right away. */
async function look(
  { ports, logger }: ScanOptions,
  stream: StreamName,
  reports: Map<string, GapReport>,
): Promise<boolean> {
  const place = await ports.views.place(ARCHIVE_READER, stream);
  const known = reports.get(stream);
  const before =
    known?.generation === place.generation ? known : { stream, generation: place.generation, scanned: 0, missing: [] };
  reports.set(stream, before);
  const { generation } = await ports.log.describe(stream);
  // What the archive holds of an older generation cannot be compared with a log that is not there any more.
  if (generation !== place.generation || before.scanned >= place.sequence) return false;
  const upTo = Math.min(place.sequence, before.scanned + GAP_WINDOW);
  const absent = await ports.views.absentFromArchive({
    stream,
    generation,
    after: before.scanned,
    upTo,
    limit: ASKED,
  });
  const skipped: number[] = [];
  for (const sequence of absent) if ((await ports.log.at(stream, sequence)) !== null) skipped.push(sequence);
  if (skipped.length > 0) logger.error({ stream, skipped }, 'messages of the log are not in the archive');
  const scanned = absent.length === ASKED ? (absent.at(-1) as number) : upTo;
  const missing = [...before.missing, ...skipped].slice(0, KEPT);
  reports.set(stream, { stream, generation, scanned, missing });
  return scanned < place.sequence;
}

import type { LogLoss, StreamDescription } from '@headway/eventlog';
import type { ArchivedEnd, BusRecords } from './records.ts';

/**
 * Whether a stream is the one that was archived and holds all of it: `null`, or what is wrong with it. Where it is wrong
 * nobody may write to it, since what is written would take the place of something that stands in the archive.
 */
export function levelOf(stream: StreamDescription, end: ArchivedEnd): string | null {
  const { stream: name, generation, created, lastSequence } = stream;
  if (stream.restoring === true) return `${name} is being put back`;
  if (generation !== end.generation) return `${name} is of generation ${generation}, the archive of ${end.generation}`;
  if (end.created !== null && end.created !== created)
    return `${name} was made anew at ${created}; the archive is of the one of ${end.created}`;
  if (lastSequence < end.sequence)
    return `${name} lost its tail: it ends at ${lastSequence}, and the archive reaches ${end.sequence}`;
  if (end.lostUpTo > 0)
    return `${name} lost its tail: it had been seen up to ${end.lostUpTo} in generation ${generation}`;
  return null;
}

/** What the level is looked at with. */
export interface LevelParts {
  readonly log: {
    describe(stream: LogLoss['stream']): Promise<StreamDescription>;
    losses?(): readonly Pick<LogLoss, 'stream' | 'generation' | 'seen' | 'reason'>[];
  };
  /** The streams that this process writes or folds, which alone it may look into. */
  readonly streams: readonly LogLoss['stream'][];
  readonly records: Pick<BusRecords, 'archivedEnds' | 'noteLoss'>;
}

/** So many looks in a row must find a loss before it is noted for ever: a server that comes up may say less at first. */
const LOOKS = 3;

/** The level of all archived streams, looked at again and again. */
export interface Level {
  /** Looks now. `null` = every stream is level. Throws where log or store cannot be asked. */
  check(): Promise<string | null>;
  /** What is known to be wrong without asking. */
  lost(): string | null;
}

export function createLevel({ log, streams, records }: LevelParts): Level {
  const looks = new Map<string, number>();
  const losses = () => log.losses?.() ?? [];
  const noteLasting = async () => {
    const now = losses();
    for (const stream of looks.keys()) if (!now.some((loss) => loss.stream === stream)) looks.delete(stream);
    for (const loss of now) {
      const times = (looks.get(loss.stream) ?? 0) + 1;
      looks.set(loss.stream, times);
      if (times === LOOKS) await records.noteLoss(loss);
    }
  };
  const lost = () => losses()[0]?.reason ?? null;
  return {
    async check() {
      const ends = (await records.archivedEnds()).filter((end) => streams.some((stream) => stream === end.stream));
      const levels = await Promise.all(
        ends.map(async (end) => levelOf(await log.describe(end.stream as LogLoss['stream']), end)),
      );
      await noteLasting();
      return levels.find((level) => level !== null) ?? lost();
    },
    lost,
  };
}

import { randomUUID } from 'node:crypto';
import { encodeRecord, LETTER_ERROR, letterId, subjects } from '@headway/contracts';
import { type LogMessage, LogUnavailable } from '@headway/eventlog';
import type { Acts } from './acts.ts';
import type { Logger, TrajectoryLog } from './ports.ts';
import type { Work } from './works.ts';

/** A message that cannot be folded into its work, however often it is tried. */
export class Unfoldable extends Error {
  override readonly name = 'Unfoldable';
}

/** A work by its name. */
type Named = Pick<Work, 'tenant' | 'work'>;

/**
 * The works that stand still at a message that cannot be handled: nothing after it is folded into them, all others go
 * on. The reader's position stays before the first such message, so that a restart tries them again and nothing is lost.
 */
export interface Poisoned {
  has(work: Named): boolean;
  /** An operator has said to pass over this message. */
  isDropped(message: LogMessage): boolean;
  /** Takes a work out from this message on, once the log tells of it. Throws where the log does not take that. */
  add(work: Named, message: LogMessage, error: Unfoldable): Promise<void>;
  /** The sequence up to which a reader that got to `sequence` may start again. */
  before(sequence: number): number;
}

export function createPoisoned(parts: {
  readonly log: Pick<TrajectoryLog, 'append'>;
  readonly logger: Logger;
  readonly acts: Pick<Acts, 'dropped' | 'knownUpTo'>;
  /** The works that stand still. */
  readonly works: Set<string>;
}): Poisoned {
  const { works } = parts;
  // Each start tries the messages anew and tells of it anew: then a dead letter that was retried in vain is open again.
  const start = randomUUID();
  // As this start knows them: an act that comes later ends it.
  const actsKnown = parts.acts.knownUpTo();
  let first = Number.POSITIVE_INFINITY;
  const subjectOf = ({ tenant, work }: Named) => subjects.deadLetter(tenant, work);
  return {
    has: (work) => works.has(subjectOf(work)),
    isDropped: (message) => parts.acts.dropped.has(placeOf(message)),
    add: async (work, message, error) => {
      const { stream, sequence, subject } = message;
      const subjectOfLetter = subjectOf(work);
      const letter = placeOf(message);
      const id = `${letter}.${start}`;
      const data = {
        reader: 'classifier' as const,
        stream,
        generation: message.generation,
        sequence,
        subject,
        error: error.message.slice(0, LETTER_ERROR),
        actsKnown,
      };
      const answer = await parts.log.append({
        subject: subjectOfLetter,
        payload: encodeRecord({ v: 1, events: [{ type: 'headway.message.dead-lettered', id, data }] }),
        messageId: id,
      });
      if (answer.outcome === 'unavailable' || answer.outcome === 'conflict') throw new LogUnavailable(answer.reason);
      works.add(subjectOfLetter);
      first = Math.min(first, sequence);
      parts.logger.error({ err: error, letter, subject }, 'a work stands still: a message cannot be folded');
    },
    before: (sequence) => Math.min(sequence, first - 1),
  };
}

const placeOf = ({ stream, generation, sequence }: LogMessage) =>
  letterId({ reader: 'classifier', stream, generation, sequence });

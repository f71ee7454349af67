import { randomUUID } from 'node:crypto';
import { encodeRecord, LETTER_ERROR, type LetterReader, letterId, subjects } from '@headway/contracts';
import { type LogMessage, LogUnavailable } from '@headway/eventlog';
import type { Acts } from './acts.ts';
import type { Logger, TrajectoryLog } from './ports.ts';

/** A message that cannot be handled, however often it is tried. */
export class Unfoldable extends Error {
  override readonly name = 'Unfoldable';
}

/** Runs what depends on the message alone: if it throws, it always will. */
export function certainly<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (cause) {
    throw new Unfoldable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What stands still as a whole: a work, or with `null` the signals of a tenant. */
export interface Aggregate {
  readonly tenant: string;
  readonly work: string | null;
}

/**
 * What stands still at a message that a reader cannot handle: nothing after it is handled of the same work or tenant, all
 * others go on. The reader's position stays before the first such message, so that a restart tries them again and
 * nothing is lost.
 */
export interface Poisoned {
  has(aggregate: Aggregate): boolean;
  /** An operator has said to pass over this message. */
  isDropped(message: LogMessage): boolean;
  /**
   * Takes a work or a tenant out from this message on, once the log tells of it. Throws where the log does not take that.
   * `from` is the sequence from which a restart has to read, where that is not the message's own.
   */
  add(aggregate: Aggregate, message: LogMessage, error: Unfoldable, from?: number): Promise<void>;
  /** As `add`, and tells nobody: what the message waits for is told of elsewhere. */
  letWait(aggregate: Aggregate, message: LogMessage): void;
  /** The sequence up to which a reader that got to `sequence` may start again. */
  before(sequence: number): number;
}

export function createPoisoned(parts: {
  readonly reader: Exclude<LetterReader, 'projection'>;
  readonly log: Pick<TrajectoryLog, 'append'>;
  readonly logger: Logger;
  readonly acts: Pick<Acts, 'dropped' | 'knownUpTo'>;
  /** Where what stands still is noted, for whoever counts it. */
  readonly held?: Set<string>;
}): Poisoned {
  const { reader, held = new Set<string>() } = parts;
  // Each start tries the messages anew and tells of it anew: then a dead letter that was retried in vain is open again.
  const start = randomUUID();
  // As this start knows them: an act that comes later ends it.
  const actsKnown = parts.acts.knownUpTo();
  let first = Number.POSITIVE_INFINITY;
  const keyOf = ({ tenant, work }: Aggregate) => subjects.deadLetter(tenant, work ?? '');
  const placeOf = ({ stream, generation, sequence }: LogMessage) => letterId({ reader, stream, generation, sequence });
  const take = (aggregate: Aggregate, from: number) => {
    held.add(keyOf(aggregate));
    first = Math.min(first, from);
  };
  return {
    has: (aggregate) => held.has(keyOf(aggregate)),
    isDropped: (message) => parts.acts.dropped.has(placeOf(message)),
    add: async (aggregate, message, error, from = message.sequence) => {
      const { stream, generation, sequence, subject } = message;
      const letter = placeOf(message);
      const id = `${letter}.${start}`;
      const text = error.message.slice(0, LETTER_ERROR);
      const data = { reader, stream, generation, sequence, subject, error: text, actsKnown };
      const answer = await parts.log.append({
        subject: keyOf(aggregate),
        payload: encodeRecord({ v: 1, events: [{ type: 'headway.message.dead-lettered', id, data }] }),
        messageId: id,
      });
      if (answer.outcome === 'unavailable' || answer.outcome === 'conflict') throw new LogUnavailable(answer.reason);
      take(aggregate, from);
      parts.logger.error(
        { err: error, letter, subject },
        'a message cannot be handled: what it belongs to stands still',
      );
    },
    letWait: (aggregate, message) => {
      take(aggregate, message.sequence);
      parts.logger.warn({ ...aggregate, sequence: message.sequence }, 'a work waits for the signals of its tenant');
    },
    before: (sequence) => Math.min(sequence, first - 1),
  };
}

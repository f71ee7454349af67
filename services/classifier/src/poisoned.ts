import type { LogMessage } from '@headway/eventlog';
import type { Logger } from './ports.ts';

/** A message that cannot be folded into its work, however often it is tried. */
export class Unfoldable extends Error {
  override readonly name = 'Unfoldable';
}

/**
 * The works that stand still at a message that cannot be handled: nothing after it is folded into them, all others go
 * on. The reader's position stays before the first such message, so that a restart tries them again and nothing is lost.
 */
export interface Poisoned {
  has(work: string): boolean;
  /** Takes a work out from this message on. */
  add(work: string, message: LogMessage, error: Unfoldable): void;
  /** The sequence up to which a reader that got to `sequence` may start again. */
  before(sequence: number): number;
}

export function createPoisoned(logger: Logger): Poisoned {
  const works = new Set<string>();
  let first = Number.POSITIVE_INFINITY;
  return {
    has: (work) => works.has(work),
    add: (work, { stream, sequence, subject }, error) => {
      works.add(work);
      first = Math.min(first, sequence);
      logger.error({ err: error, stream, sequence, subject, work }, 'a work stands still: a message cannot be folded');
    },
    before: (sequence) => Math.min(sequence, first - 1),
  };
}

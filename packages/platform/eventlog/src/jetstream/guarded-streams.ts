import type { StreamName } from '@headway/contracts';
import type { StreamDescription } from '../log.ts';

/** Messages that this connection saw acknowledged or delivered, and that are not in the stream any more. */
export interface LogLoss {
  readonly stream: StreamName;
  readonly generation: number;
  /** ISO time of the creation of the stream that was seen. */
  readonly created: string;
  /** The newest sequence that was seen. */
  readonly seen: number;
  readonly reason: string;
}

interface Seen {
  readonly generation: number;
  readonly created: string;
  last: number;
}

/**
 * Remembers how far each stream was seen. A server that comes back with less, an older copy of its data or a stream made
 * anew, must not be written to: what is written there would stand where something else stood before.
 */
export class GuardedStreams {
  readonly #seen = new Map<StreamName, Seen>();
  readonly #losses = new Map<StreamName, LogLoss>();

  losses(): readonly LogLoss[] {
    return [...this.#losses.values()];
  }

  lossOf(stream: StreamName): LogLoss | null {
    return this.#losses.get(stream) ?? null;
  }

  /** The streams that have to be looked at when the server may be another one. */
  names(): readonly StreamName[] {
    return [...this.#seen.keys()];
  }

  /** How far a stream was seen; to be asked before the server is. */
  lastSeen(stream: StreamName): number {
    return this.#seen.get(stream)?.last ?? 0;
  }

  /** `before`: how far the stream was seen when the question was sent; more may have come since. */
  described(now: StreamDescription, before: number): void {
    const { stream, generation, created, lastSequence } = now;
    const seen = this.#seen.get(stream);
    const other = seen !== undefined && (seen.created !== created || seen.generation !== generation);
    // Put back: complete again, or told to be another one on purpose.
    const putBack =
      seen === undefined || (now.restoring !== true && (other ? generation > seen.generation : lastSequence >= before));
    if (putBack) {
      const last = Math.max(lastSequence, other || seen === undefined ? 0 : seen.last);
      this.#seen.set(stream, { generation, created, last });
      this.#losses.delete(stream);
      return;
    }
    if (now.restoring === true && !other && lastSequence >= before) return;
    this.#lost(stream, seen, other ? `${stream} was made anew at ${created}` : `${stream} ends at ${lastSequence}`);
  }

  /** The stream is not there. */
  gone(stream: StreamName): void {
    const seen = this.#seen.get(stream);
    if (seen !== undefined) this.#lost(stream, seen, `${stream} was deleted`);
  }

  /** `false`: the sequence of an acknowledged append shows that the stream lost its tail. */
  acknowledged(stream: StreamName, sequence: number): boolean {
    const seen = this.#seen.get(stream);
    if (seen === undefined) return true;
    // Acknowledgements under way at once may come in another order; none is that far behind.
    if (sequence <= seen.last - ACKNOWLEDGEMENTS_APART) {
      this.#lost(stream, seen, `${stream} took a message at ${sequence}`);
      return false;
    }
    seen.last = Math.max(seen.last, sequence);
    return true;
  }

  delivered(stream: StreamName, sequence: number): void {
    const seen = this.#seen.get(stream);
    if (seen !== undefined && sequence > seen.last) seen.last = sequence;
  }

  #lost(stream: StreamName, { generation, created, last }: Seen, found: string): void {
    const reason = `${found}, and was seen up to ${last} in generation ${generation}`;
    this.#losses.set(stream, { stream, generation, created, seen: last, reason });
  }
}

/** More than all appends that may be under way from several processes at once. */
const ACKNOWLEDGEMENTS_APART = 16_384;

import { aggregateOf } from '@headway/contracts';
import {
  type ArchivedMessage,
  type Changes,
  type DeadLetterRow,
  storableText,
  type WaitingRow,
} from '@headway/readmodel';

type Placed = Pick<ArchivedMessage, 'stream' | 'generation' | 'sequence'>;

/**
 * Which messages of a batch are projected: a message waits when one before it of the same aggregate could not be handled,
 * and is passed over where an operator dropped it.
 */
export class Admission {
  readonly #held: Set<string>;
  readonly #dropped: ReadonlySet<string>;
  readonly #letters: DeadLetterRow[] = [];
  readonly #waiting: WaitingRow[] = [];

  private constructor(held: ReadonlySet<string>, dropped: ReadonlySet<string>) {
    this.#held = new Set(held);
    this.#dropped = dropped;
  }

  static async open(changes: Changes, messages: readonly ArchivedMessage[]): Promise<Admission> {
    const keys = new Set(messages.map(({ subject }) => storableText(aggregateOf(subject).key)));
    const [held, dropped] = [await changes.findHolds([...keys]), await changes.droppedAmong(messages)];
    return new Admission(held, new Set(dropped.map(placeOf)));
  }

  /** Whether to project a message. One that has to wait is noted as waiting. */
  admits(message: ArchivedMessage): boolean {
    if (this.#dropped.has(placeOf(message))) return false;
    const aggregate = storableText(aggregateOf(message.subject).key);
    if (!this.#held.has(aggregate)) return true;
    this.#wait(aggregate, message);
    return false;
  }

  /** A message that was admitted cannot be handled: from it on its aggregate waits. */
  refuse(letter: DeadLetterRow): void {
    const aggregate = storableText(letter.aggregate.key);
    this.#letters.push(letter);
    this.#held.add(aggregate);
    this.#wait(aggregate, letter);
  }

  async save(changes: Changes): Promise<void> {
    if (this.#letters.length > 0) {
      await changes.keepDeadLetters(this.#letters);
      await changes.hold(this.#letters);
    }
    if (this.#waiting.length > 0) await changes.letWait(this.#waiting);
  }

  #wait(aggregate: string, { stream, generation, sequence }: Placed): void {
    this.#waiting.push({ aggregate, stream, generation, sequence });
  }
}

const placeOf = ({ stream, generation, sequence }: Placed) => `${stream} ${generation} ${sequence}`;

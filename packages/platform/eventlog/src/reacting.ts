import type { StreamName } from '@headway/contracts';
import type { LogMessage } from './message.ts';

/** A durable consumer: how far those who react under its name got is kept by the server. */
export interface ConsumerDeclaration {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly stream: StreamName;
  /** One filter: servers before 2.10 take no more. */
  readonly filter: string;
  /** What is not acknowledged for so long is delivered again. */
  readonly ackWaitSeconds: number;
  /** Messages delivered and not yet acknowledged, over everyone who reacts. */
  readonly underWay: number;
}

/**
 * Reacting: for whoever acts on messages, one after another, and never has to see them in the order of the stream.
 *
 * What it promises
 * - Every message under the consumer's filter is delivered until it is acknowledged, however often that takes: there is
 *   no limit of deliveries. Who reacts commits what it did first, then acknowledges.
 * - All who react under one name share the messages: one delivery goes to one of them.
 *
 * What it does not promise
 * - Once: an acknowledgement may be lost, and the message comes again. Be idempotent by the event's id.
 * - Order: what was put back comes after what was not.
 */
export interface Reacting {
  /**
   * Deliveries for ever; ends when `signal` aborts or the log closes, and puts back what it holds then. Throws
   * `LogUnavailable` where the consumer was not provisioned, `StreamRecreated` when the stream is another one.
   */
  react(options: ReactOptions): AsyncIterable<Delivered>;
}

export interface ReactOptions {
  readonly consumer: ConsumerDeclaration;
  readonly signal: AbortSignal;
}

export interface Delivered {
  readonly message: LogMessage;
  /** How often it was delivered, with this time. */
  readonly deliveries: number;
  /** It is done with. */
  ack(): void;
  /** Puts it back: it is delivered again after so many milliseconds, to whoever reacts then. */
  retry(afterMs: number): void;
  /** It is still worked on: the time until it is delivered again begins anew. */
  working(): void;
}

/** Deliveries that one who reacts holds at once, beside those it was given. */
export const REACT_AHEAD = 32;

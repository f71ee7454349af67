import type { StreamName, StreamPosition } from '@headway/contracts';

/**
 * The log: named streams of messages, each under a subject, numbered from 1 without gaps at the time of writing.
 *
 * What it promises
 * - An acknowledged append stands in the stream at its sequence, and every reader that started before or at it sees it
 *   there exactly once, in sequence order.
 * - `expectedLastSequence` makes writers of one subject exclusive: of two appends that expect the same, one is
 *   `appended`, the other is `conflict` and leaves nothing behind.
 * - A `messageId` seen in the last {@link DUPLICATE_WINDOW_SECONDS} is not stored again.
 *
 * What it does not promise
 * - An `unavailable` append may or may not stand in the stream. Append again with the same `messageId` and the same
 *   expected sequence; the answer then tells.
 * - An acknowledgement means published. Whether it also means durable is the server's setting; `describe` tells.
 */
export interface EventLog {
  append(message: NewMessage): Promise<AppendOutcome>;

  /** The newest message under exactly this subject, or `null`. */
  last(stream: StreamName, subject: string): Promise<LogMessage | null>;

  /** The message at a sequence, or `null` where there is none (any more). */
  at(stream: StreamName, sequence: number): Promise<LogMessage | null>;

  /**
   * The newest message of every subject that matches `filter`, in sequence order, up to the end of the stream as it is
   * now; then it ends. For starting a fold from recorded states.
   */
  newestOfEach(stream: StreamName, filter: string): AsyncIterable<readonly LogMessage[]>;

  /**
   * Everything under `filters` after a sequence, strictly in order, in batches of at most `batch` messages, for ever:
   * at the end of the stream it waits. A gap or a reordering by the transport is repaired inside; a message is never
   * skipped and never given twice. Ends when `signal` aborts; throws `StreamRecreated` when the stream is not the one
   * it began to read.
   */
  read(options: ReadOptions): AsyncIterable<ReadBatch>;

  describe(stream: StreamName): Promise<StreamDescription>;

  /** Waits for appends under way, then closes. Readers end. */
  close(): Promise<void>;
}

/** The server's window for message ids. */
export const DUPLICATE_WINDOW_SECONDS = 120;

export interface NewMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly messageId?: string;
  /** Sequence of the newest message of this subject as the writer knows it; 0 = none yet. Absent = append freely. */
  readonly expectedLastSequence?: number;
}

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly position: StreamPosition }
  | { readonly outcome: 'duplicate'; readonly position: StreamPosition }
  | { readonly outcome: 'conflict'; readonly reason: string }
  | { readonly outcome: 'unavailable'; readonly reason: string };

export interface LogMessage {
  readonly stream: StreamName;
  readonly generation: number;
  readonly sequence: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
  /** When the server took it; milliseconds since the Unix epoch. For people, never for rules. */
  readonly recordedAt: number;
}

export interface ReadOptions {
  readonly stream: StreamName;
  readonly filters: readonly string[];
  /** The first message given is the first one after this sequence; 0 = from the beginning. */
  readonly after: number;
  readonly batch: number;
  readonly signal: AbortSignal;
}

export interface ReadBatch {
  readonly messages: readonly LogMessage[];
  /** Nothing more was waiting when this batch was made: the reader has caught up. Such a batch may be empty. */
  readonly caughtUp: boolean;
}

export interface StreamDescription {
  readonly stream: StreamName;
  readonly generation: number;
  /** ISO time of the stream's creation: another one means another stream. */
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly replicas: number;
}

/** The stream was deleted or created anew while a reader was on it. */
export class StreamRecreated extends Error {
  override readonly name = 'StreamRecreated';
}

import type { StreamName, StreamPosition } from '@headway/contracts';
import type { LogMessage } from './message.ts';
import type { Reacting } from './reacting.ts';

export type { LogMessage } from './message.ts';

/**
 * The log: named streams of messages, each under a subject, numbered from 1 without gaps at the time of writing.
 *
 * What it promises
 * - An acknowledged append stands in the stream at its sequence, and every reader that started before or at it sees it
 *   there exactly once, in sequence order.
 * - `expectedLastSequence` makes writers of one subject exclusive: of two appends that expect the same, one is
 *   `appended`, the other is `conflict` and leaves nothing behind.
 * - A `messageId` seen in the last {@link DUPLICATE_WINDOW_SECONDS} is not stored again: the answer is `duplicate`, with
 *   where it stands. An append that is repeated with its id and its expected sequence is a duplicate too, never a
 *   conflict with itself. An id belongs to one message: with other content or subject the answer may be either.
 * - One append stands at most once, however often an adapter had to send it.
 *
 * What it does not promise
 * - An `unavailable` append may or may not stand in the stream. Append again with the same `messageId` and the same
 *   expected sequence; the answer then tells. Without a `messageId` the caller cannot find out.
 * - Appends under way at once may stand in another order than they were called in. Await one before the next, or
 *   expect sequences.
 * - An acknowledgement means published. Whether it also means durable is the server's setting, not told here.
 *
 * Reading one message, `describe` and starting a reader go on trying for {@link ANSWER_DEADLINE_MS}, then throw
 * {@link LogUnavailable}. A message, filter or batch that breaks a limit is the caller's mistake: `RangeError`.
 */
export interface EventLog extends Reacting {
  append(message: NewMessage): Promise<AppendOutcome>;

  /** The newest message under exactly this subject, or `null`. */
  last(stream: StreamName, subject: string): Promise<LogMessage | null>;

  /** The message at a sequence, or `null` where there is none (any more). */
  at(stream: StreamName, sequence: number): Promise<LogMessage | null>;

  /**
   * The newest message of every subject that matches `filter`, in sequence order, up to the end of the stream as it is
   * now; then it ends. For starting a fold from recorded states. A subject that is written while this runs may come
   * with its newer message, once more where the older one was given already.
   */
  newestOfEach(stream: StreamName, filter: string): AsyncIterable<readonly LogMessage[]>;

  /**
   * Everything under `filters` after a sequence, strictly in order, in batches of at most `batch` messages, for ever:
   * at the end of the stream it waits. A gap or a reordering by the transport is repaired inside; a message is never
   * skipped and never given twice. Ends when `signal` aborts or the log closes; throws `StreamRecreated` when the
   * stream is not the one it began to read. Once begun it outlasts any outage.
   */
  read(options: ReadOptions): AsyncIterable<ReadBatch>;

  describe(stream: StreamName): Promise<StreamDescription>;

  /** Waits for appends under way, then closes. Readers end. */
  close(): Promise<void>;
}

/** The server's window for message ids. */
export const DUPLICATE_WINDOW_SECONDS = 120;

/** How long an append, or a question, is tried before it counts as unavailable. Well below the window of message ids. */
export const ANSWER_DEADLINE_MS = 20_000;

/** Bytes of one payload: 16 KiB for subject and headers below the default maximum of a NATS server. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024 - 16 * 1024;

/** Messages of one batch that a reader may ask for. */
export const MAX_READ_BATCH = 10_000;

export interface NewMessage {
  readonly subject: string;
  /** At most {@link MAX_PAYLOAD_BYTES}. */
  readonly payload: Uint8Array;
  /** Printable ASCII names that do not begin with `Nats-`; values of one line without blanks around. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly messageId?: string;
  /**
   * Sequence of the newest message of this subject as the writer knows it; 0 = there is none, or none any more: what was
   * trimmed counts as never written. Absent = append freely.
   */
  readonly expectedLastSequence?: number;
}

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly position: StreamPosition }
  | { readonly outcome: 'duplicate'; readonly position: StreamPosition }
  /** `lastSequence`: the newest message of the subject as the server told, 0 = none; `null` = it did not tell, ask. */
  | { readonly outcome: 'conflict'; readonly reason: string; readonly lastSequence: number | null }
  | { readonly outcome: 'unavailable'; readonly reason: string };

export interface ReadOptions {
  readonly stream: StreamName;
  /** Subjects of that stream, with `*` and a final `>` as in NATS; at least one. */
  readonly filters: readonly string[];
  /** The first message given is the first one after this sequence; 0 = from the beginning. */
  readonly after: number;
  /** 1 to {@link MAX_READ_BATCH}. */
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
  /** It is being put back from the archive: nobody else may write to it. */
  readonly restoring?: true;
}

/** The stream was deleted, created anew, or set back to before the reader's position, while a reader was on it. */
export class StreamRecreated extends Error {
  override readonly name = 'StreamRecreated';
}

/** The log gave no answer in time, or does not hold the stream. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable';
}

import type { StreamName } from '@headway/contracts';
import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  ANSWER_DEADLINE_MS,
  type LogMessage,
  LogUnavailable,
  type ReadBatch,
  type StreamDescription,
  StreamRecreated,
} from '../log.ts';
import { matches } from '../subject.ts';
import { backoff } from './connection.ts';
import { toLogMessage } from './delivery.ts';
import { PullConsumer } from './pull-consumer.ts';
import { isStreamNotFound, noStream } from './questions.ts';

/** A leader that was just elected may tell for a moment of less than it has. Milliseconds. */
const SHORT_FOR_MS = 3_000;

export interface ReaderStart {
  readonly stream: StreamName;
  /** One filter that covers all of `filters`: servers before 2.10 take one only. */
  readonly covering: string;
  readonly filters: readonly string[];
  readonly after: number;
  readonly batch: number;
  readonly newestOfEach: boolean;
  readonly signal: AbortSignal;
}

export interface ReaderAccess {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** Asks the server once. */
  readonly describe: (stream: StreamName) => Promise<StreamDescription>;
  /** Told of each message that came. */
  readonly delivered: (stream: StreamName, sequence: number) => void;
  readonly pullExpiresMs: number;
  /** Lets the reader know of each new connection; answers with how to stop that. */
  readonly onReconnect: (listener: () => void) => () => void;
}

/**
 * Reads a stream in order, on one consumer after another: whenever one breaks, the next begins right after the last
 * message that was taken in. Nothing is taken in that does not follow.
 */
export class Reader {
  readonly #access: ReaderAccess;
  readonly #start: ReaderStart;
  readonly #buffer: LogMessage[] = [];
  #consumer: PullConsumer | null = null;
  #began: StreamDescription | null = null;
  /** Sequence of the newest message taken in, whether a filter let it through or not. */
  #taken: number;
  #pending = Number.POSITIVE_INFINITY;
  /** Consumers in a row that broke before they gave anything. */
  #barren = 0;
  #toldCaughtUp = false;
  /** Since when the stream ends before what was taken. */
  #shortSince: number | null = null;
  #wake: () => void = () => {};

  constructor(access: ReaderAccess, start: ReaderStart) {
    this.#access = access;
    this.#start = start;
    this.#taken = start.after;
  }

  /** Batches for ever; with `newestOfEach`, until the end has been reached once. */
  async *batches(): AsyncGenerator<ReadBatch> {
    const { signal, newestOfEach } = this.#start;
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake);
    const forget = this.#access.onReconnect(() => {
      this.#consumer?.end();
      this.#broken();
    });
    try {
      while (!signal.aborted) {
        if (this.#consumer === null && this.#barren > 1) await this.#pause(backoff(this.#barren - 2));
        const consumer = this.#consumer ?? (await this.#connect());
        if (consumer === null) return;
        consumer.keepUp(this.#buffer.length);
        const batch = this.#take();
        if (batch !== null) yield batch;
        else if (this.#consumer !== null) await this.#something();
        if (newestOfEach && batch?.caughtUp === true) return;
      }
    } finally {
      forget();
      signal.removeEventListener('abort', wake);
      this.#consumer?.end();
    }
  }

  #take(): ReadBatch | null {
    const messages = this.#buffer.splice(0, this.#start.batch);
    const caughtUp = this.#buffer.length === 0 && this.#pending === 0;
    if (messages.length === 0 && (!caughtUp || this.#toldCaughtUp)) return null;
    this.#toldCaughtUp = caughtUp;
    return { messages, caughtUp };
  }

  /** Resolves when there may be something to do. */
  #something(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PullConsumer.patience);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#start.signal.aborted) this.#wake();
    });
  }

  #broken(): void {
    this.#consumer = null;
    this.#pending = Number.POSITIVE_INFINITY;
    this.#wake();
  }

  /** The next consumer; however long that takes once the reader has begun. `null` when it is to end. */
  async #connect(): Promise<PullConsumer | null> {
    const deadline = Date.now() + ANSWER_DEADLINE_MS;
    for (let attempt = 0; !this.#start.signal.aborted; attempt += 1) {
      try {
        return await this.#tryConnect();
      } catch (error) {
        this.#throwWhatStays(error, deadline);
        await this.#pause(backoff(attempt));
      }
    }
    return null;
  }

  /** Throws where trying again cannot help; returns where it can. */
  #throwWhatStays(error: unknown, deadline: number): void {
    const { stream, signal } = this.#start;
    if (signal.aborted) return;
    if (error instanceof StreamRecreated || error instanceof RangeError) throw error;
    if (isStreamNotFound(error))
      throw this.#began === null ? noStream(stream) : new StreamRecreated(`${stream} was deleted`);
    if (error instanceof JetStreamApiError && error.status < 500) throw error;
    if (this.#began === null && Date.now() > deadline)
      throw error instanceof LogUnavailable ? error : new LogUnavailable(`${stream} cannot be read`, { cause: error });
  }

  async #tryConnect(): Promise<PullConsumer> {
    const { stream, covering, newestOfEach } = this.#start;
    let broken = false;
    let current: PullConsumer | null = null;
    const consumer = await PullConsumer.create(
      this.#access.connection,
      this.#access.manager,
      {
        stream,
        filter: covering,
        from: newestOfEach ? 'newest-of-each' : this.#taken + 1,
        pullExpiresMs: this.#access.pullExpiresMs,
      },
      {
        message: (message, delivery) => {
          if (delivery.consumer !== consumer.name) return;
          this.#barren = 0;
          this.#pending = delivery.pending;
          this.#access.delivered(stream, delivery.sequence);
          if (delivery.sequence > this.#taken) {
            this.#taken = delivery.sequence;
            this.#toldCaughtUp = false;
            if (this.#start.filters.some((filter) => matches(filter, message.subject)))
              this.#buffer.push(toLogMessage(stream, this.#began?.generation ?? 0, message, delivery));
          }
          this.#wake();
        },
        over: () => {
          this.#barren = 0;
          this.#wake();
        },
        broken: () => {
          broken = true;
          this.#barren += 1;
          if (this.#consumer === current) this.#broken();
        },
      },
    );
    current = consumer;
    try {
      const before = this.#taken;
      this.#compare(await this.#access.describe(stream), before);
    } catch (error) {
      consumer.end();
      throw error;
    }
    if (broken) throw new LogUnavailable('the consumer broke at once');
    this.#consumer = consumer;
    this.#pending = consumer.waiting;
    return consumer;
  }

  /** Looked at after the consumer was made: so it is known to be one of the stream that is described. */
  #compare(now: StreamDescription, taken: number): void {
    const { stream } = this.#start;
    if (this.#began !== null && now.created !== this.#began.created)
      throw new StreamRecreated(`${stream} was created anew at ${now.created}`);
    if (now.lastSequence >= taken) this.#shortSince = null;
    else this.#tooShort(`${stream} ends at ${now.lastSequence}, before the position ${taken}`);
    this.#began ??= now;
  }

  /** Throws: at first as something that may pass. */
  #tooShort(reason: string): never {
    this.#shortSince ??= Date.now();
    const passing = this.#began !== null && Date.now() - this.#shortSince < SHORT_FOR_MS;
    throw passing ? new LogUnavailable(reason) : new StreamRecreated(reason);
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        if (!this.#start.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

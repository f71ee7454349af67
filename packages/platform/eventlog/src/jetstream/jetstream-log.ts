import type { StreamName } from '@headway/contracts';
import { ANSWER_DEADLINE_MS, type EventLog, LogUnavailable, type StreamDescription } from '../log.ts';
import { checkFilter, checkRead, covering, streamOf } from '../subject.ts';
import { connectNats, type NatsAccess } from './connection.ts';
import { DEFAULT_PUBLISH_WINDOW, Publisher } from './publisher.ts';
import { PULL_EXPIRES_MS } from './pull-consumer.ts';
import {
  answered,
  describeOnce,
  isStreamNotFound,
  managerOver,
  noStream,
  storedMessage,
  successorOf,
} from './questions.ts';
import { reactOn } from './reacting.ts';
import { Reader, type ReaderStart } from './reader.ts';

export interface JetStreamLogOptions extends NatsAccess {
  /** Appends under way at once; {@link DEFAULT_PUBLISH_WINDOW} unless told. */
  readonly publishWindow?: number;
  /** How long an append is tried before it is `unavailable`; {@link ANSWER_DEADLINE_MS} unless told. */
  readonly appendWithinMs?: number;
  /** How long the server keeps a reader's pull open; {@link PULL_EXPIRES_MS} unless told. */
  readonly pullExpiresMs?: number;
}

/** Messages in one batch of `newestOfEach`. */
const NEWEST_BATCH = 1_000;

/**
 * The log on a NATS server with JetStream, 2.9.10 or newer. The streams must have been provisioned. Once connected, it
 * reconnects for ever. Throws `LogUnavailable` when there is no connection within half a minute.
 */
export async function connectJetStreamLog(options: JetStreamLogOptions): Promise<EventLog> {
  const connection = await connectNats(options);
  const manager = await managerOver(connection);
  const generations = new Map<string, number>();
  const describe = async (stream: StreamName): Promise<StreamDescription> => {
    const description = await describeOnce(manager, stream);
    generations.set(stream, description.generation);
    return description;
  };
  const ask = <Answer>(stream: StreamName, question: () => Promise<Answer>) =>
    answered(stream, question).catch((error) => {
      throw isStreamNotFound(error) ? noStream(stream) : error;
    });
  const generationOf = (stream: string): number | Promise<number> =>
    generations.get(stream) ??
    ask(stream as StreamName, () => describe(stream as StreamName)).then(({ generation }) => generation);
  const questions = {
    generationOf,
    successorOf: (stream: StreamName, subject: string, after: number) => successorOf(manager, stream, subject, after),
  };
  const publisher = new Publisher(connection, questions, {
    window: options.publishWindow ?? DEFAULT_PUBLISH_WINDOW,
    appendWithinMs: options.appendWithinMs ?? ANSWER_DEADLINE_MS,
  });

  const reconnectListeners = new Set<() => void>();
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') publisher.disconnected();
      if (type !== 'reconnect') continue;
      // A server that comes back may be another one, over other streams.
      generations.clear();
      publisher.reconnected();
      for (const listener of reconnectListeners) listener();
    }
  })();

  const closing = new AbortController();
  const open = () => {
    if (closing.signal.aborted) throw new LogUnavailable('the log is closed');
  };
  const reading = (start: ReaderStart) =>
    new Reader(
      {
        connection,
        manager,
        describe,
        pullExpiresMs: options.pullExpiresMs ?? PULL_EXPIRES_MS,
        onReconnect(listener) {
          reconnectListeners.add(listener);
          return () => reconnectListeners.delete(listener);
        },
      },
      { ...start, signal: AbortSignal.any([start.signal, closing.signal]) },
    ).batches();

  return {
    append: async (message) => publisher.append(message),
    async last(stream, subject) {
      open();
      if (streamOf(subject) !== stream) throw new RangeError(`${subject} is not a subject of ${stream}`);
      const generation = await generationOf(stream);
      return ask(stream, () => storedMessage(manager, stream, generation, { last_by_subj: subject }));
    },
    async at(stream, sequence) {
      open();
      if (sequence < 1) return null;
      const generation = await generationOf(stream);
      return ask(stream, () => storedMessage(manager, stream, generation, { seq: sequence }));
    },
    async *newestOfEach(stream, filter) {
      checkFilter(stream, filter);
      open();
      const { signal } = closing;
      const start = { stream, covering: filter, filters: [filter], after: 0, batch: NEWEST_BATCH, signal };
      for await (const { messages, caughtUp } of reading({ ...start, newestOfEach: true })) {
        if (messages.length > 0) yield messages;
        if (caughtUp) return;
      }
      open();
    },
    read(options) {
      checkRead(options);
      return reading({ ...options, covering: covering(options.filters), newestOfEach: false });
    },
    react: (options) => reactOn({ connection, describe, closing: closing.signal }, options),
    async describe(stream) {
      open();
      return ask(stream, () => describe(stream));
    },
    async close() {
      await publisher.close();
      closing.abort();
      await connection.drain().catch(() => connection.close());
    },
  };
}

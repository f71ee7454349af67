import type { StreamName } from '@headway/contracts';
import { ANSWER_DEADLINE_MS, type EventLog, LogUnavailable, type StreamDescription } from '../log.ts';
import { checkFilter, checkRead, covering, streamOf } from '../subject.ts';
import { backoff, connectNats, type NatsAccess, sleep } from './connection.ts';
import { askDurability, type Durability } from './durability.ts';
import { GuardedStreams, type LogLoss } from './guarded-streams.ts';
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
  /** Where the server's monitoring answers, like `http://127.0.0.1:8222`: it alone tells when the server syncs. */
  readonly monitorUrl?: string | undefined;
  /** How long the server keeps a reader's pull open; {@link PULL_EXPIRES_MS} unless told. */
  readonly pullExpiresMs?: number;
}

/** The log, and what this connection knows of the server beyond it. */
export interface JetStreamLog extends EventLog {
  /** Streams that lost what this connection had seen of them: nothing is appended to them before they are put back. */
  losses(): readonly LogLoss[];
  /** What an acknowledgement of the server means. Throws {@link LogUnavailable}. */
  durability(): Promise<Durability>;
}

/** How often a stream that lost its tail is looked at again when somebody appends to it. */
const LOOK_AGAIN_MS = 1_000;

/** Messages in one batch of `newestOfEach`. */
const NEWEST_BATCH = 1_000;

/**
 * The log on a NATS server with JetStream, 2.9.10 or newer. The streams must have been provisioned. Once connected, it
 * reconnects for ever. Throws `LogUnavailable` when there is no connection within half a minute.
 */
export async function connectJetStreamLog(options: JetStreamLogOptions): Promise<JetStreamLog> {
  const connection = await connectNats(options);
  const manager = await managerOver(connection);
  const generations = new Map<string, number>();
  const guarded = new GuardedStreams();
  const describe = async (stream: StreamName): Promise<StreamDescription> => {
    const before = guarded.lastSeen(stream);
    const description = await describeOnce(manager, stream).catch((error: unknown) => {
      if (isStreamNotFound(error)) guarded.gone(stream);
      throw error;
    });
    generations.set(stream, description.generation);
    guarded.described(description, before);
    return description;
  };
  const ask = <Answer>(stream: StreamName, question: () => Promise<Answer>) =>
    answered(stream, question).catch((error) => {
      throw isStreamNotFound(error) ? noStream(stream) : error;
    });
  const generationOf = (stream: string): number | Promise<number> =>
    generations.get(stream) ??
    ask(stream as StreamName, () => describe(stream as StreamName)).then(({ generation }) => generation);
  let lookAgainAt = 0;
  const questions = {
    generationOf,
    barredFrom: (stream: StreamName) => {
      const loss = guarded.lossOf(stream);
      if (loss !== null && Date.now() >= lookAgainAt) {
        lookAgainAt = Date.now() + LOOK_AGAIN_MS;
        describe(stream).catch(() => {});
      }
      return loss?.reason ?? null;
    },
    acknowledged: (stream: StreamName, sequence: number) => guarded.acknowledged(stream, sequence),
    successorOf: (stream: StreamName, subject: string, after: number) => successorOf(manager, stream, subject, after),
  };
  const publisher = new Publisher(connection, questions, {
    window: options.publishWindow ?? DEFAULT_PUBLISH_WINDOW,
    appendWithinMs: options.appendWithinMs ?? ANSWER_DEADLINE_MS,
  });

  const reconnectListeners = new Set<() => void>();
  const closing = new AbortController();
  let connections = 0;
  /** A server that comes back may be another one, over other data: it is looked at before anything is sent to it. */
  const comeBack = async () => {
    connections += 1;
    const connected = connections;
    const current = () => connected === connections && !closing.signal.aborted;
    generations.clear();
    const deadline = Date.now() + ANSWER_DEADLINE_MS;
    for (let attempt = 0; current() && Date.now() < deadline; attempt += 1) {
      const looks = await Promise.allSettled(guarded.names().map((stream) => describe(stream)));
      if (looks.every((look) => look.status === 'fulfilled' || isStreamNotFound(look.reason))) break;
      await sleep(backoff(attempt));
    }
    if (!current()) return;
    publisher.reconnected();
    for (const listener of reconnectListeners) listener();
  };
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') publisher.disconnected();
      if (type === 'reconnect') void comeBack();
    }
  })();

  const open = () => {
    if (closing.signal.aborted) throw new LogUnavailable('the log is closed');
  };
  const reading = (start: ReaderStart) =>
    new Reader(
      {
        connection,
        manager,
        describe,
        delivered: (stream, sequence) => guarded.delivered(stream, sequence),
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
    losses: () => guarded.losses(),
    durability: () => answered('durability', () => askDurability(connection, manager, options.monitorUrl)),
    async close() {
      await publisher.close();
      closing.abort();
      await connection.drain().catch(() => connection.close());
    },
  };
}

import type { StreamName } from '@headway/contracts';
import type { Clock } from '@headway/kernel';
import {
  type AppendOutcome,
  DUPLICATE_WINDOW_SECONDS,
  type EventLog,
  type LogMessage,
  LogUnavailable,
  type NewMessage,
  type ReadBatch,
  type ReadOptions,
  StreamRecreated,
} from './log.ts';
import { type MemoryConsumer, reactInMemory } from './memory-reacting.ts';
import { DECLARED_STREAMS } from './streams.ts';
import { checkFilter, checkMessage, checkRead, matches } from './subject.ts';

/** What a memory log stands on. Several logs over one of these see the same streams, as several connections would. */
export interface MemoryStreams {
  /** The stream is deleted and made anew, with the next generation. */
  recreate(stream: StreamName): void;
  /** @internal */
  readonly of: (stream: StreamName) => MemoryStream;
}

interface MemoryStream {
  readonly name: StreamName;
  readonly generation: number;
  readonly created: string;
  /** Index 0 is sequence 1. Nothing is ever removed: memory logs live as long as a test. */
  readonly messages: LogMessage[];
  readonly newest: Map<string, LogMessage>;
  readonly ids: Map<string, LogMessage>;
  /** Called when a message was added or the stream was replaced. */
  readonly watchers: Set<() => void>;
  readonly consumers: Map<string, MemoryConsumer>;
}

export function createMemoryStreams(): MemoryStreams {
  const make = (name: StreamName, generation: number): MemoryStream => ({
    name,
    generation,
    created: new Date(generation * 1_000).toISOString(),
    messages: [],
    newest: new Map(),
    ids: new Map(),
    watchers: new Set(),
    consumers: new Map(),
  });
  const streams = new Map(DECLARED_STREAMS.map(({ name }) => [name, make(name, 1)]));
  const of = (name: StreamName) => {
    const stream = streams.get(name);
    if (stream === undefined) throw new LogUnavailable(`there is no stream ${name}`);
    return stream;
  };
  return {
    of,
    recreate(name) {
      const old = of(name);
      streams.set(name, make(name, old.generation + 1));
      for (const wake of old.watchers) wake();
    },
  };
}

export interface MemoryLogOptions {
  readonly streams?: MemoryStreams;
  /** Gives `recordedAt` and ends the window of message ids; the system's by default. */
  readonly clock?: Clock;
}

/** The log in memory: for tests and simulations. Declared ages are not acted on. */
export function createMemoryLog(options: MemoryLogOptions = {}): EventLog {
  const { streams = createMemoryStreams(), clock = { now: () => Date.now() } } = options;
  const closing = new AbortController();
  const open = () => {
    if (closing.signal.aborted) throw new LogUnavailable('the log is closed');
  };
  return {
    async append(message) {
      const stream = streams.of(checkMessage(message));
      if (closing.signal.aborted) return { outcome: 'unavailable', reason: 'the log is closed' };
      return appendTo(stream, message, clock.now());
    },
    async last(stream, subject) {
      open();
      return streams.of(stream).newest.get(subject) ?? null;
    },
    async at(stream, sequence) {
      open();
      return streams.of(stream).messages[sequence - 1] ?? null;
    },
    async *newestOfEach(stream, filter) {
      checkFilter(stream, filter);
      open();
      const found = [...streams.of(stream).newest.values()].filter(({ subject }) => matches(filter, subject));
      if (found.length > 0) yield found.sort((a, b) => a.sequence - b.sequence);
    },
    read(options) {
      checkRead(options);
      return readFrom(streams, options, closing.signal);
    },
    react: (options) => reactInMemory(() => streams.of(options.consumer.stream), options, closing.signal),
    async describe(name) {
      open();
      const { generation, created, messages } = streams.of(name);
      return {
        stream: name,
        generation,
        created,
        firstSequence: messages.length === 0 ? 0 : 1,
        lastSequence: messages.length,
        replicas: 1,
      };
    },
    async close() {
      closing.abort();
    },
  };
}

function appendTo(stream: MemoryStream, message: NewMessage, now: number): AppendOutcome {
  const { subject, messageId, expectedLastSequence } = message;
  const position = (sequence: number) => ({ stream: stream.name, generation: stream.generation, sequence });
  const known = messageId === undefined ? undefined : stream.ids.get(messageId);
  if (known !== undefined && now - known.recordedAt < DUPLICATE_WINDOW_SECONDS * 1_000)
    return { outcome: 'duplicate', position: position(known.sequence) };
  const newest = stream.newest.get(subject)?.sequence ?? 0;
  if (expectedLastSequence !== undefined && expectedLastSequence !== newest)
    return {
      outcome: 'conflict',
      reason: `the last sequence of ${subject} is ${newest}, not ${expectedLastSequence}`,
      lastSequence: newest,
    };
  const stored: LogMessage = {
    ...position(stream.messages.length + 1),
    subject,
    headers: { ...message.headers },
    ...(messageId === undefined ? {} : { messageId }),
    payload: message.payload.slice(),
    recordedAt: now,
  };
  stream.messages.push(stored);
  stream.newest.set(subject, stored);
  if (messageId !== undefined) stream.ids.set(messageId, stored);
  for (const wake of stream.watchers) wake();
  return { outcome: 'appended', position: position(stored.sequence) };
}

async function* readFrom(
  streams: MemoryStreams,
  { stream: name, filters, after, batch, signal }: ReadOptions,
  closing: AbortSignal,
): AsyncGenerator<ReadBatch> {
  const stream = streams.of(name);
  let looked = after;
  let toldCaughtUp = false;
  while (!signal.aborted && !closing.aborted) {
    if (streams.of(name) !== stream) throw new StreamRecreated(`${name} was created anew`);
    if (stream.messages.length < looked)
      throw new StreamRecreated(`${name} ends at ${stream.messages.length}, before the position ${looked}`);
    const messages: LogMessage[] = [];
    while (messages.length < batch && looked < stream.messages.length) {
      const message = stream.messages[looked] as LogMessage;
      looked += 1;
      toldCaughtUp = false;
      if (filters.some((filter) => matches(filter, message.subject))) messages.push(message);
    }
    const caughtUp = looked === stream.messages.length;
    if (messages.length > 0 || (caughtUp && !toldCaughtUp)) {
      toldCaughtUp = caughtUp;
      yield { messages, caughtUp };
    } else await somethingNew(stream, signal, closing);
  }
}

function somethingNew(stream: MemoryStream, ...ends: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      stream.watchers.delete(wake);
      for (const end of ends) end.removeEventListener('abort', wake);
      resolve();
    };
    stream.watchers.add(wake);
    for (const end of ends) end.addEventListener('abort', wake);
    if (ends.some((end) => end.aborted)) wake();
  });
}

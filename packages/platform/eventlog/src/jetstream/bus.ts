import { STREAMS, type StreamName, subjects } from '@headway/contracts';
import type { JetStreamManager } from '@nats-io/jetstream';
import { type NatsConnection, headers as newHeaders } from '@nats-io/transport-node';
import { ANSWER_DEADLINE_MS, type LogMessage, LogUnavailable, type StreamDescription } from '../log.ts';
import { DECLARED_STREAMS, rootOf } from '../streams.ts';
import { backoff, connectNats, type NatsAccess, sleep } from './connection.ts';
import { MESSAGE_ID_HEADER } from './delivery.ts';
import { connectJetStreamLog, type JetStreamLog } from './jetstream-log.ts';
import { FOR_EVER, settingsOf } from './provisioning.ts';
import { answered, describeOnce, generationText, isStreamNotFound, managerOver } from './questions.ts';

/** A message that is written at the place where it stood before. */
export type ExactMessage = Pick<LogMessage, 'subject' | 'headers' | 'payload'> & {
  readonly messageId?: string | undefined;
};

export interface ExactAppends {
  readonly appended: number;
  /** Messages that the server took only without their message id: it remembered the id of another place. */
  readonly withoutId: number;
}

/**
 * The streams as an operator handles them: what takes messages away or puts them where they stood. No service has the
 * rights for it, or a reason.
 */
export interface Bus {
  readonly log: JetStreamLog;
  /** `null` = the stream is not there. */
  describe(stream: StreamName): Promise<StreamDescription | null>;
  /** Writes generation and mark into the stream. While it is marked no service writes to it. */
  mark(stream: StreamName, generation: number, restoring: boolean): Promise<void>;
  /** Deletes the stream and makes it anew, marked as being restored, so that the next message gets `after` + 1. */
  remake(stream: StreamName, generation: number, after: number): Promise<void>;
  /**
   * Appends messages so that the first one gets the sequence `after` + 1, and each next the next. Throws where another
   * writer is in between, or the log does not answer: what was appended stays, and can be continued after.
   */
  appendExactly(
    stream: StreamName,
    after: number,
    messages: AsyncIterable<ExactMessage> | Iterable<ExactMessage>,
    onProgress?: (appended: number) => void,
  ): Promise<ExactAppends>;
  /** Everything after a sequence up to the end of the stream as it is now. */
  readToEnd(stream: StreamName, after: number): AsyncGenerator<LogMessage>;
  /** Takes away every message up to a sequence. Sequences of the others stay. Answers with how many were there. */
  trim(stream: StreamName, upTo: number): Promise<number>;
  close(): Promise<void>;
}

export interface BusOptions extends NatsAccess {
  /** Servers that hold a stream which has to be made anew; 1 unless told. */
  readonly replicas?: number;
}

/** Exact appends under way at once. */
const WINDOW = 256;
const READ_BATCH = 1_000;
const ANSWER_MS = 5_000;

/** Throws {@link LogUnavailable} where there is no connection. */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const connection = await connectNats(options);
  const manager = await managerOver(connection);
  const log = await connectJetStreamLog({ ...options, name: `${options.name} reading` });
  const replicas = options.replicas ?? 1;
  return {
    log,
    describe: (stream) =>
      answered(stream, async () => {
        try {
          return await describeOnce(manager, stream);
        } catch (error) {
          if (isStreamNotFound(error)) return null;
          throw error;
        }
      }),
    mark: (stream, generation, restoring) =>
      answered(`marking ${stream}`, async () => {
        const { config } = await manager.streams.info(stream);
        await manager.streams.update(stream, { ...config, description: generationText(generation, restoring) });
      }),
    remake: (stream, generation, after) => remake(connection, manager, { stream, generation, after, replicas }),
    appendExactly: (stream, after, messages, onProgress) =>
      appendExactly(connection, manager, { stream, after, messages, onProgress: onProgress ?? (() => {}) }),
    readToEnd: (stream, after) => readToEnd(log, stream, after),
    trim: (stream, upTo) =>
      answered(`trimming ${stream}`, async () => (await manager.streams.purge(stream, { seq: upTo + 1 })).purged),
    async close() {
      await log.close();
      await connection.close();
    },
  };
}

async function remake(
  connection: NatsConnection,
  manager: JetStreamManager,
  at: { stream: StreamName; generation: number; after: number; replicas: number },
): Promise<void> {
  const { stream, generation, after, replicas } = at;
  const declaration = DECLARED_STREAMS.find(({ name }) => name === stream);
  if (declaration === undefined) throw new RangeError(`${stream} is not a declared stream`);
  await answered(`deleting ${stream}`, async () => {
    await manager.streams.delete(stream).catch((error: unknown) => {
      if (!isStreamNotFound(error)) throw error;
    });
  });
  const description = generationText(generation, true);
  await answered(`making ${stream}`, async () => {
    await manager.streams.add({ ...settingsOf(declaration, replicas), name: stream, description, ...FOR_EVER });
  });
  if (after === 0) return;
  // The numbers of what was trimmed stay taken. Servers before 2.10 lose count when a purge goes beyond the end.
  if (/^2\.[0-9]\./.test(connection.info?.version ?? '')) {
    const filler = { subject: subjects.gap(rootOf(stream)), headers: {}, payload: new Uint8Array() };
    await appendExactly(connection, manager, {
      stream,
      after: 0,
      messages: repeated(filler, after),
      onProgress: () => {},
    });
  }
  await answered(`numbering ${stream}`, () => manager.streams.purge(stream, { seq: after + 1 }));
}

function* repeated<Value>(value: Value, times: number): Generator<Value> {
  for (let time = 0; time < times; time += 1) yield value;
}

async function* readToEnd(log: JetStreamLog, stream: StreamName, after: number): AsyncGenerator<LogMessage> {
  const { lastSequence } = await log.describe(stream);
  if (lastSequence <= after) return;
  const stopping = new AbortController();
  const filters = [`${rootOf(stream)}.>`];
  try {
    for await (const batch of log.read({ stream, filters, after, batch: READ_BATCH, signal: stopping.signal })) {
      for (const message of batch.messages) if (message.sequence <= lastSequence) yield message;
      if (batch.caughtUp || (batch.messages.at(-1)?.sequence ?? 0) >= lastSequence) return;
    }
  } finally {
    stopping.abort();
  }
}

interface ExactWrite {
  readonly stream: StreamName;
  readonly after: number;
  readonly messages: AsyncIterable<ExactMessage> | Iterable<ExactMessage>;
  readonly onProgress: (appended: number) => void;
}

async function appendExactly(
  connection: NatsConnection,
  manager: JetStreamManager,
  { stream, after, messages, onProgress }: ExactWrite,
): Promise<ExactAppends> {
  let last = after;
  let withoutId = 0;
  let window: ExactMessage[] = [];
  const flush = async () => {
    withoutId += await writeWindow(connection, manager, stream, last, window);
    last += window.length;
    window = [];
    onProgress(last - after);
  };
  for await (const message of messages) {
    window.push(message);
    if (window.length >= WINDOW) await flush();
  }
  if (window.length > 0) await flush();
  return { appended: last - after, withoutId };
}

/** Writes messages one behind the other; answers with how many had to go without their message id. */
async function writeWindow(
  connection: NatsConnection,
  manager: JetStreamManager,
  stream: StreamName,
  after: number,
  messages: readonly ExactMessage[],
): Promise<number> {
  const end = after + messages.length;
  let withoutId = 0;
  let trouble = '';
  /** Up to where this has written. */
  let written = after;
  for (let attempt = 0, since = Date.now(); ; attempt += 1) {
    const { lastSequence } = await answered(stream, () => describeOnce(manager, stream));
    if (attempt > 0 && lastSequence === end) return withoutId;
    if (lastSequence < written || lastSequence > end || (attempt === 0 && lastSequence !== written))
      throw new LogUnavailable(`${stream} ends at ${lastSequence} while ${after + 1} to ${end} are put back`);
    if (Date.now() - since > ANSWER_DEADLINE_MS)
      throw new LogUnavailable(`${stream} does not take what is put back after ${lastSequence}: ${trouble}`);
    if (attempt > 0) await sleep(backoff(attempt));
    // Several at once first; where that is refused, one alone, and in the end without its id.
    const given = messages.slice(lastSequence - after, attempt === 0 ? messages.length : lastSequence - after + 1);
    const answers = await Promise.allSettled(
      given.map((message, at) => writeOne(connection, message, lastSequence + at, attempt < 2)),
    );
    for (const answer of answers) if (answer.status === 'rejected') trouble = String(answer.reason);
    if (attempt >= 2 && answers[0]?.status === 'fulfilled') withoutId += 1;
    if (answers.every((answer) => answer.status === 'fulfilled')) {
      written = lastSequence + given.length;
      if (written === end) return withoutId;
      attempt = -1;
      since = Date.now();
    }
  }
}

async function writeOne(
  connection: NatsConnection,
  { subject, headers, payload, messageId }: ExactMessage,
  expected: number,
  withId: boolean,
): Promise<void> {
  const all = newHeaders();
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  if (messageId !== undefined && withId) all.set(MESSAGE_ID_HEADER, messageId);
  all.set('Nats-Expected-Last-Sequence', String(expected));
  const reply = await connection.request(subject, payload, { headers: all, timeout: ANSWER_MS });
  const answer = reply.json<{ seq?: number; duplicate?: boolean; error?: { description?: string } }>();
  if (answer.error !== undefined) throw new Error(answer.error.description ?? 'refused');
  if (answer.seq !== expected + 1)
    throw new Error(`stored at ${answer.seq}${answer.duplicate === true ? ' before' : ''}, not at ${expected + 1}`);
}

/** Streams of which the projection keeps every message, so that they can be put back. */
export const ARCHIVED_STREAMS: readonly StreamName[] = [
  STREAMS.record,
  STREAMS.evidence,
  STREAMS.effects,
  STREAMS.acts,
];

import type { StreamName } from '@headway/contracts';
import { JetStreamApiError, type JetStreamManager, jetstreamManager, type MsgRequest } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ANSWER_DEADLINE_MS, type LogMessage, LogUnavailable, type StreamDescription } from '../log.ts';
import { backoff, sleep } from './connection.ts';
import { MESSAGE_ID_HEADER, readHeaders } from './delivery.ts';

const STREAM_NOT_FOUND = 10059;

export const isStreamNotFound = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;

/** How long one question waits before it is asked again. */
const QUESTION_TIMEOUT_MS = 5_000;

/** The API of JetStream over a connection, without asking at once whether it is there: at a restart it is not yet. */
export const managerOver = (connection: NatsConnection): Promise<JetStreamManager> =>
  jetstreamManager(connection, { checkAPI: false, timeout: QUESTION_TIMEOUT_MS });

export const noStream = (stream: StreamName): LogUnavailable =>
  new LogUnavailable(`there is no stream ${stream} on the server: provision the streams first`);

/** Asks until there is an answer, for {@link ANSWER_DEADLINE_MS} at most; then throws {@link LogUnavailable}. */
export async function answered<Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> {
  const deadline = Date.now() + ANSWER_DEADLINE_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (cause) {
      const stays = cause instanceof LogUnavailable || (cause instanceof JetStreamApiError && cause.status < 500);
      if (stays) throw cause;
      const closed = cause instanceof Error && cause.name === 'ClosedConnectionError';
      if (closed || Date.now() > deadline) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new LogUnavailable(`no answer to ${what}: ${reason}`, { cause });
      }
      await sleep(backoff(attempt));
    }
  }
}

/** Asks the server once. */
export async function describeOnce(manager: JetStreamManager, stream: StreamName): Promise<StreamDescription> {
  const { created, state, config } = await manager.streams.info(stream);
  return {
    stream,
    generation: generationIn(config.description),
    created,
    firstSequence: state.messages === 0 ? 0 : state.first_seq,
    lastSequence: state.last_seq,
    replicas: config.num_replicas,
    ...(isRestoring(config.description) ? { restoring: true as const } : {}),
  };
}

/** What provisioning writes into a stream's description, the one place that every server version keeps. */
export const generationText = (generation: number, restoring = false): string =>
  `generation ${generation}${restoring ? RESTORING : ''}`;

const RESTORING = ', being restored';
export const isRestoring = (description: string | undefined): boolean => description?.endsWith(RESTORING) === true;

export function generationIn(description: string | undefined): number {
  const generation = /\bgeneration (\d+)\b/.exec(description ?? '')?.[1];
  if (generation === undefined)
    throw new LogUnavailable(
      `a stream is described as ${JSON.stringify(description ?? '')}, without its generation: provision it`,
    );
  return Number(generation);
}

/**
 * One stored message, from the stream's leader: a replica could answer with an older newest message, and the writer's
 * next expected sequence would be wrong again and again.
 */
export async function storedMessage(
  manager: JetStreamManager,
  stream: StreamName,
  generation: number,
  which: { readonly last_by_subj: string } | { readonly seq: number },
): Promise<LogMessage | null> {
  const found = await manager.streams.getMessage(stream, which);
  if (found === null) return null;
  return {
    stream,
    generation,
    sequence: found.seq,
    subject: found.subject,
    ...readHeaders(found.header),
    payload: found.data,
    recordedAt: found.time.getTime(),
  };
}

/** The first message of a subject after a sequence, by its raw message id. */
export async function successorOf(
  manager: JetStreamManager,
  stream: StreamName,
  subject: string,
  after: number,
): Promise<Successor | null> {
  const next = { seq: after + 1, next_by_subj: subject } as MsgRequest;
  const found = await manager.streams.getMessage(stream, next);
  return found === null ? null : { sequence: found.seq, messageId: found.header.get(MESSAGE_ID_HEADER) };
}

export interface Successor {
  readonly sequence: number;
  readonly messageId: string;
}

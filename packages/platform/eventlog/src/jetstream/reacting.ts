import type { StreamName } from '@headway/contracts';
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { LogUnavailable, type StreamDescription, StreamRecreated } from '../log.ts';
import { type ConsumerDeclaration, type Delivered, REACT_AHEAD, type ReactOptions } from '../reacting.ts';
import { backoff, sleep } from './connection.ts';
import { readHeaders } from './delivery.ts';
import { isStreamNotFound, noStream } from './questions.ts';

const CONSUMER_NOT_FOUND = 10014;
/** How long the server keeps a pull open. */
const PULL_EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 2_000;

export interface ReactAccess {
  readonly connection: NatsConnection;
  readonly describe: (stream: StreamName) => Promise<StreamDescription>;
  /** Aborts when the log closes. */
  readonly closing: AbortSignal;
}

/** Deliveries of a durable consumer, on one pull after another, through every outage. */
export async function* reactOn(
  { connection, describe, closing }: ReactAccess,
  { consumer, signal }: ReactOptions,
): AsyncGenerator<Delivered> {
  const ended = AbortSignal.any([signal, closing]);
  let began: StreamDescription | null = null;
  for (let barren = 0; !ended.aborted; barren += 1) {
    if (barren > 0) await sleep(backoff(barren - 1));
    try {
      const description = await describe(consumer.stream);
      if (began !== null && began.created !== description.created)
        throw new StreamRecreated(`${consumer.stream} was created anew at ${description.created}`);
      began = description;
      for await (const message of pull(connection, consumer, ended)) {
        barren = 0;
        yield deliveredOf(message, consumer, description.generation);
      }
    } catch (error) {
      if (ended.aborted) return;
      throwWhatStays(error, consumer);
    }
  }
}

async function* pull(
  connection: NatsConnection,
  { name, stream, underWay }: ConsumerDeclaration,
  ended: AbortSignal,
): AsyncGenerator<JsMsg> {
  const consumer = await jetstream(connection).consumers.get(stream, name);
  const messages = await consumer.consume({
    max_messages: Math.min(underWay, REACT_AHEAD),
    expires: PULL_EXPIRES_MS,
    idle_heartbeat: HEARTBEAT_MS,
    abort_on_missing_resource: true,
  });
  const stop = () => messages.stop();
  ended.addEventListener('abort', stop);
  if (ended.aborted) stop();
  try {
    for await (const message of messages) {
      if (ended.aborted) message.nak();
      else yield message;
    }
  } finally {
    ended.removeEventListener('abort', stop);
    messages.stop();
  }
}

/** Throws where trying again cannot help; returns where it can. */
function throwWhatStays(error: unknown, { name, stream }: ConsumerDeclaration): void {
  if (error instanceof StreamRecreated || error instanceof RangeError) throw error;
  if (isStreamNotFound(error)) throw noStream(stream);
  if (error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND)
    throw new LogUnavailable(`${stream} has no consumer ${name}: provision the streams and consumers first`);
  if (error instanceof JetStreamApiError && error.status < 500) throw error;
}

function deliveredOf(message: JsMsg, { stream }: ConsumerDeclaration, generation: number): Delivered {
  return {
    message: {
      stream,
      generation,
      sequence: message.seq,
      subject: message.subject,
      ...readHeaders(message.headers),
      payload: message.data,
      recordedAt: Math.floor(message.info.timestampNanos / 1e6),
    },
    deliveries: message.info.deliveryCount,
    ack: () => message.ack(),
    retry: (afterMs) => message.nak(Math.max(0, Math.ceil(afterMs))),
    working: () => message.working(),
  };
}

/** Makes a declared consumer, or brings it to what is declared. How far it got stays. */
export async function provisionConsumer(
  { consumers }: JetStreamManager,
  declared: ConsumerDeclaration,
  replicas: number,
): Promise<'created' | 'updated' | 'unchanged'> {
  const wanted = {
    filter_subject: declared.filter,
    ack_wait: nanos(declared.ackWaitSeconds * 1_000),
    max_ack_pending: declared.underWay,
    // No limit: what cannot be handled becomes a dead letter by the decision of its handler.
    max_deliver: -1,
    num_replicas: replicas,
  } satisfies Partial<ConsumerConfig>;
  const found = await consumers.info(declared.stream, declared.name).catch((error) => {
    if (error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND) return null;
    throw error;
  });
  if (found === null) {
    await consumers.add(declared.stream, {
      ...wanted,
      durable_name: declared.name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    return 'created';
  }
  const differs = Object.entries(wanted).some(([name, value]) => found.config[name as keyof ConsumerConfig] !== value);
  if (!differs) return 'unchanged';
  await consumers.update(declared.stream, declared.name, wanted);
  return 'updated';
}

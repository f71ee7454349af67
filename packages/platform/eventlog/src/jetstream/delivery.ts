import type { StreamName } from '@headway/contracts';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { LogMessage } from '../log.ts';

export const MESSAGE_ID_HEADER = 'Nats-Msg-Id';
/** Begins the ids that the publisher gave itself; a reader does not show them. */
export const OWN_ID = '_headway.';

/** What a consumer's delivery says about itself. */
export interface Delivery {
  readonly consumer: string;
  /** In the stream. */
  readonly sequence: number;
  /** In the consumer, from 1 without gaps. */
  readonly delivered: number;
  readonly recordedAt: number;
  /** Messages that match the consumer's filter and were not delivered yet. */
  readonly pending: number;
}

/**
 * Reads a delivery's reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<delivered>.<ns>.<pending>`,
 * with `<domain>.<account>` before the stream and a last random token from newer servers. `null` when it is another.
 */
export function readDelivery(reply: string): Delivery | null {
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return null;
  const at = tokens.length === 9 ? 3 : 5;
  return {
    consumer: tokens[at] ?? '',
    sequence: Number(tokens[at + 2]),
    delivered: Number(tokens[at + 3]),
    recordedAt: Number((tokens[at + 4] ?? '').slice(0, -6)),
    pending: Number(tokens[at + 5]),
  };
}

export function toLogMessage(stream: StreamName, generation: number, message: Msg, delivery: Delivery): LogMessage {
  return {
    stream,
    generation,
    sequence: delivery.sequence,
    subject: message.subject,
    ...readHeaders(message.headers),
    payload: message.data,
    recordedAt: delivery.recordedAt,
  };
}

/** The headers as the writer gave them: without those that NATS itself acts on. */
export function readHeaders(from: MsgHdrs | undefined): Pick<LogMessage, 'headers' | 'messageId'> {
  const headers: Record<string, string> = {};
  let messageId: string | undefined;
  for (const [name, [value = '']] of from ?? []) {
    if (name === MESSAGE_ID_HEADER) messageId = value.startsWith(OWN_ID) ? undefined : value;
    else if (!name.startsWith('Nats-')) headers[name] = value;
  }
  return messageId === undefined ? { headers } : { headers, messageId };
}

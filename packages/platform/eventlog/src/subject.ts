import type { StreamName } from '@headway/contracts';
import { MAX_PAYLOAD_BYTES, MAX_READ_BATCH, type NewMessage, type ReadOptions } from './log.ts';
import { rootOf, streamOfRoot } from './streams.ts';

/** Whether a subject falls under a filter: `*` stands for one token, a final `>` for one or more. */
export function matches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const tokens = subject.split('.');
  for (let at = 0; at < wanted.length; at += 1) {
    if (wanted[at] === '>') return tokens.length > at;
    if (at >= tokens.length || (wanted[at] !== '*' && wanted[at] !== tokens[at])) return false;
  }
  return tokens.length === wanted.length;
}

/** One filter that covers all the filters: their common beginning. The filters are of one stream. */
export function covering(filters: readonly string[]): string {
  const [first = '', ...others] = filters;
  if (others.every((other) => other === first)) return first;
  const tokens = first.split('.');
  let common = Math.min(...filters.map((filter) => filter.split('.').length)) - 1;
  for (const other of others) {
    const theirs = other.split('.');
    for (let at = 0; at < common; at += 1) if (tokens[at] !== theirs[at]) common = at;
  }
  return [...tokens.slice(0, common), '>'].join('.');
}

/** The stream a subject belongs to. Throws `RangeError` where it is none of ours. */
export function streamOf(subject: string): StreamName {
  const stream = streamOfRoot(subject.slice(0, subject.indexOf('.')));
  if (stream === undefined || !/^[^\s.*>]+(\.[^\s.*>]+)+$/.test(subject))
    throw new RangeError(`${JSON.stringify(subject)} is not a subject of a stream`);
  return stream;
}

/** Throws `RangeError` where a filter is not well formed or not of the stream. */
export function checkFilter(stream: StreamName, filter: string): void {
  if (!filter.startsWith(`${rootOf(stream)}.`) || !/^[^\s.*>]+(\.([^\s.*>]+|\*))*(\.>)?$/.test(filter))
    throw new RangeError(`${JSON.stringify(filter)} is not a filter of ${stream}`);
}

/** Throws `RangeError` where the message breaks what {@link NewMessage} says; otherwise tells its stream. */
export function checkMessage(message: NewMessage): StreamName {
  const { subject, payload, headers = {}, messageId, expectedLastSequence } = message;
  if (payload.byteLength > MAX_PAYLOAD_BYTES)
    throw new RangeError(
      `a payload of ${payload.byteLength} bytes under ${subject} is above ${MAX_PAYLOAD_BYTES}: pack less`,
    );
  for (const [name, value] of Object.entries(headers))
    if (!/^[!-9;-~]+$/.test(name) || /^nats-/i.test(name) || !isHeaderValue(value))
      throw new RangeError(`header ${JSON.stringify(name)}: ${JSON.stringify(value)} cannot be sent`);
  if (messageId !== undefined && (messageId === '' || !isHeaderValue(messageId)))
    throw new RangeError(`${JSON.stringify(messageId)} is not a message id`);
  if (expectedLastSequence !== undefined && !isSequence(expectedLastSequence))
    throw new RangeError(`${expectedLastSequence} is not a sequence to expect`);
  return streamOf(subject);
}

/** Throws `RangeError` where the options break what {@link ReadOptions} says. */
export function checkRead({ stream, filters, after, batch }: ReadOptions): void {
  if (filters.length === 0) throw new RangeError('a reader needs at least one filter');
  for (const filter of filters) checkFilter(stream, filter);
  if (!isSequence(after)) throw new RangeError(`${after} is not a sequence to read after`);
  if (!Number.isInteger(batch) || batch < 1 || batch > MAX_READ_BATCH)
    throw new RangeError(`a batch of ${batch} messages is not within 1 to ${MAX_READ_BATCH}`);
}

const isSequence = (value: number) => Number.isSafeInteger(value) && value >= 0;
const isHeaderValue = (value: string) => !/[\r\n\0]/.test(value) && value.trim() === value;

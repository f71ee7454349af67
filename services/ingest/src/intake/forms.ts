import { isUtf8 } from 'node:buffer';
import { limits, type Problem, problem } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';

/** The media types in which evidence is taken. */
export const mediaTypes = {
  structured: 'application/cloudevents+json',
  batch: 'application/cloudevents-batch+json',
  json: 'application/json',
  lines: 'application/x-ndjson',
} as const;

/** One event of a request as JSON, or why it is none. */
export type Item =
  | {
      readonly ok: true;
      readonly raw: unknown;
      /** Bytes as received; `null` = not known, but the request as a whole may be larger than one event. */
      readonly bytes: number | null;
      /** Where it stands in the request, where that helps to find it (`Line 3`); else empty. */
      readonly place: string;
    }
  | { readonly ok: false; readonly problem: Problem };

export interface Received {
  /** Without parameters, in lower case; `null` where there was none. */
  readonly mediaType: string | null;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * The events of a request in any of the four forms. A request that cannot be taken apart at all is refused as a whole;
 * one that can is never refused for one of its events. Pure.
 */
export function readForm(received: Received): Result<Item[], Problem> {
  const { mediaType, headers, body } = received;
  if (body.length > limits.batchBytes)
    return refused(problem('body_too_large', `Send at most ${limits.batchBytes} bytes.`));
  if (isBinary(mediaType, headers)) return readBinary(headers, body);
  if (mediaType === mediaTypes.lines) return counted(readLines(body));
  if (mediaType !== mediaTypes.structured && mediaType !== mediaTypes.batch && mediaType !== mediaTypes.json)
    return refused(unsupported(mediaType));
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  return Array.isArray(parsed.value)
    ? counted(readArray(parsed.value, body.length))
    : readOne(mediaType, parsed.value, body);
}

export const unsupported = (mediaType: string | null): Problem =>
  problem(
    'unsupported_media_type',
    `${mediaType === null ? 'No Content-Type is set' : 'This Content-Type is not taken'}. Use one of: ${Object.values(mediaTypes).join(', ')}.`,
  );

function readOne(mediaType: string, raw: unknown, body: Buffer): Result<Item[], Problem> {
  if (mediaType === mediaTypes.batch)
    return refused(
      problem('malformed_json', 'A batch is a JSON array of events. For one event use application/cloudevents+json.'),
    );
  return ok([item(raw, body.length)]);
}

const readArray = (events: readonly unknown[], bytes: number): Item[] =>
  events.map((raw) => item(raw, bytes <= limits.eventBytes ? bytes : null));

/** An event whose content stands in `data_base64` cannot be read: evidence is JSON. */
function item(raw: unknown, bytes: number | null, place = ''): Item {
  if (raw !== null && typeof raw === 'object' && 'data_base64' in raw)
    return {
      ok: false,
      problem: problem('invalid_event', 'Send `data` as JSON instead of `data_base64`.', '/data_base64'),
    };
  return { ok: true, raw, bytes, place };
}

function counted(items: Item[]): Result<Item[], Problem> {
  if (items.length === 0) return refused(problem('invalid_event', 'The request holds no event.'));
  if (items.length > limits.batchEvents)
    return refused(
      problem('batch_too_long', `Send at most ${limits.batchEvents} events in one request; these are more.`),
    );
  return ok(items);
}

function parseJson(body: Buffer): Result<unknown, Problem> {
  const text = textOf(body);
  if (text === null) return refused(problem('malformed_json', 'The body is not valid UTF-8.'));
  try {
    return ok(JSON.parse(text));
  } catch (error) {
    return refused(problem('malformed_json', `The body is not valid JSON: ${reasonOf(error)}.`));
  }
}

/** The parser's reason without the text around the place, which may hold a secret. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? 'it ends too early or holds something that is none' : `at character ${position}`;
}

const BOM = '\uFEFF';
function textOf(bytes: Buffer): string | null {
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString('utf8');
  return text.startsWith(BOM) ? text.slice(1) : text;
}

const NEWLINE = 0x0a;
/** Tab, carriage return and space: with nothing else a line is empty. */
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0d || byte === 0x09;

/** Lines with nothing in them do not count as events, but count as lines. Reads one line more than a batch may have. */
function readLines(body: Buffer): Item[] {
  const items: Item[] = [];
  let number = 1;
  for (let from = 0; from < body.length && items.length <= limits.batchEvents; ) {
    // Byte by byte: a body of nothing but line ends costs no more than another one.
    if (body[from] === NEWLINE) number += 1;
    if (body[from] === NEWLINE || isBlank(body[from])) {
      from += 1;
      continue;
    }
    const newline = body.indexOf(NEWLINE, from);
    const to = newline === -1 ? body.length : newline;
    const read = readLine(body.subarray(from, to), number);
    if (read !== null) items.push(read);
    from = to;
  }
  return items;
}

function readLine(bytes: Buffer, number: number): Item | null {
  const place = `Line ${number}`;
  if (bytes.length > limits.eventBytes)
    return {
      ok: false,
      problem: problem(
        'event_too_large',
        `${place} has ${bytes.length} bytes; an event has at most ${limits.eventBytes}.`,
      ),
    };
  const text = textOf(bytes);
  if (text === null) return { ok: false, problem: problem('malformed_json', `${place} is not valid UTF-8.`) };
  if (text.trim() === '') return null;
  try {
    return item(JSON.parse(text), bytes.length, place);
  } catch (error) {
    return { ok: false, problem: problem('malformed_json', `${place} is not valid JSON: ${reasonOf(error)}.`) };
  }
}

/** The attributes stand in `ce-` headers and the body is the data. */
function isBinary(mediaType: string | null, headers: Received['headers']): boolean {
  return (
    (mediaType === null || mediaType === mediaTypes.json) &&
    (headers['ce-specversion'] !== undefined || headers['ce-id'] !== undefined || headers['ce-type'] !== undefined)
  );
}

function readBinary(headers: Received['headers'], body: Buffer): Result<Item[], Problem> {
  const raw: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('ce-')) continue;
    const decoded = decodeHeader(Array.isArray(value) ? value.join(',') : (value as string));
    if (decoded === null)
      return refused(problem('invalid_event', `The header ${name} is not correctly percent-encoded UTF-8.`));
    raw[name.slice(3)] = decoded;
  }
  // Headers are text; the one attribute that is a number becomes one, and what is none is refused by its schema.
  if (typeof raw.incarnation === 'string' && /^\d{1,16}$/.test(raw.incarnation))
    raw.incarnation = Number(raw.incarnation);
  if (body.length > 0) {
    const data = parseJson(body);
    if (!data.ok) return data;
    raw.data = data.value;
  }
  return ok([item(raw, body.length)]);
}

/** Header values carry what is beyond printable ASCII percent-encoded (HTTP binding of CloudEvents 1.0, 3.1.3.2). */
function decodeHeader(value: string): string | null {
  const plain = value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(plain);
  } catch {
    return null;
  }
}

import { type EvidenceEvent, type EvidenceOf, limits } from '@headway/contracts';
import type { ReadAttempt } from '../ports.ts';
import { redactValue } from './redact.ts';

/**
 * The event as it goes into the log: secrets redacted everywhere in `data`; of a gate attempt the failing set and the
 * signature read from it, and the output cut. A signature that the reporter sent is dropped. Pure.
 *
 * Redaction comes first, so that the signature, the failing set and the kept output agree with each other.
 */
export function enrich(event: EvidenceEvent, readAttempt: ReadAttempt): EvidenceEvent {
  const clean = { ...event, data: redactValue(event.data) } as EvidenceEvent;
  return clean.type === 'headway.gate.attempted' ? enrichAttempt(clean, readAttempt) : clean;
}

function enrichAttempt(event: EvidenceOf<'headway.gate.attempted'>, readAttempt: ReadAttempt): EvidenceEvent {
  const { signature: _reported, ...reported } = event.data;
  const { failures, signature } = readAttempt(reported);
  const data: EvidenceOf<'headway.gate.attempted'>['data'] = { ...reported, signature };
  if (failures.length > 0) data.failures = fit(failures.slice(0, limits.failures));
  if (reported.output !== undefined) data.output = cutOutput(reported.output, limits.outputBytes);
  return { ...event, data };
}

/** Bytes that the messages of an attempt's failures may take together; beyond it only the keys are kept. */
const MESSAGE_BYTES = 128 * 1024;

function fit<Failure extends { key: string; message?: string | undefined }>(failures: readonly Failure[]): Failure[] {
  let left = MESSAGE_BYTES;
  return failures.map((failure) => {
    left -= Buffer.byteLength(failure.message ?? '');
    if (left >= 0) return failure;
    const { message: _dropped, ...kept } = failure;
    return kept as Failure;
  });
}

/** Of output that is cut, so much of the room goes to the beginning; tools say at the end what failed. */
const HEAD_SHARE = 1 / 4;

/** Output of at most `most` bytes of UTF-8: the beginning and the end, with a line between that says what was cut. */
export function cutOutput(output: string, most: number): string {
  if (output.length * 3 <= most) return output;
  const bytes = Buffer.from(output, 'utf8');
  if (bytes.length <= most) return output;
  const room = most - Buffer.byteLength(mark(bytes.length));
  const head = wholeCharacters(bytes, 0, Math.floor(room * HEAD_SHARE));
  const tailFrom = bytes.length - (room - head.length);
  const tail = wholeCharacters(bytes, tailFrom, bytes.length);
  return head.toString('utf8') + mark(bytes.length - head.length - tail.length) + tail.toString('utf8');
}

const mark = (bytes: number): string => `\n[... ${bytes} bytes cut ...]\n`;

/** The bytes of a range without the parts of characters at its ends. */
function wholeCharacters(bytes: Buffer, from: number, to: number): Buffer {
  const continues = (at: number) => at > 0 && at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
  let [start, end] = [from, to];
  while (continues(start)) start += 1;
  while (end > start && continues(end)) end -= 1;
  return bytes.subarray(start, end);
}

import { setImmediate } from 'node:timers/promises';
import {
  type DeadLettered,
  type EvidenceEvent,
  identityKey,
  letterReaders,
  mayStandUnder,
  type OperatorAct,
  type PolicyCommit,
  parseSubject,
  type ReaderPosition,
  type SignalsRecord,
  type SubjectMeaning,
  type TrajectoryRecord,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { ArchivedMessage } from '@headway/readmodel';

/** One event of a commit, with its identity and the digest of its content. */
export interface DecodedEvent {
  readonly event: EvidenceEvent;
  readonly key: string;
  readonly content: string;
}

/** What a message of EVIDENCE, RECORD or ACTS says. `nothing`: there is nothing in it for the read models. */
export type Decoded =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'evidence';
      readonly tenant: string;
      readonly work: string;
      readonly events: readonly DecodedEvent[];
    }
  | { readonly kind: 'policy'; readonly tenant: string; readonly record: PolicyCommit }
  | { readonly kind: 'trajectory'; readonly tenant: string; readonly work: string; readonly record: TrajectoryRecord }
  | { readonly kind: 'signals'; readonly tenant: string; readonly record: SignalsRecord }
  | { readonly kind: 'dead-letter'; readonly tenant: string; readonly work: string; readonly letter: DeadLettered }
  | { readonly kind: 'act'; readonly tenant: string; readonly act: OperatorAct }
  | { readonly kind: 'position'; readonly reader: string; readonly record: ReaderPosition };

/** Reads a message; a parameter of what projects, so that tests can play a version of the code that reads more. */
export type Decode = (message: ArchivedMessage) => Result<Decoded, string>;

/** What was decoded before, so that a batch that is looked at twice or tried again is read once. */
const known = new WeakMap<ArchivedMessage, Result<Decoded, string>>();

/** The one boundary where bytes of the log become facts. Total: what cannot be read gives the reason as a value. */
export function decode(message: ArchivedMessage): ReturnType<Decode> {
  const before = known.get(message);
  if (before !== undefined) return before;
  const decoded = read(message);
  known.set(message, decoded);
  return decoded;
}

/** Messages that are read without a pause. */
const READ_TOGETHER = 32;

/** Reads messages ahead, and lets others have their turn meanwhile: the store is busy with the same batch. */
export async function decodeAhead(messages: readonly ArchivedMessage[], decodeOne: Decode): Promise<void> {
  for (const [at, message] of messages.entries()) {
    decodeOne(message);
    if (at % READ_TOGETHER === READ_TOGETHER - 1) await setImmediate();
  }
}

function read(message: ArchivedMessage): Result<Decoded, string> {
  const meaning = parseSubject(message.subject);
  if (meaning === null) return refused('the subject belongs to no known family');
  if (meaning.kind === 'tick' || meaning.kind === 'gap' || meaning.kind === 'kept-policy')
    return ok({ kind: 'nothing' });
  const payload = parse(message.payload);
  if (!payload.ok) return payload;
  const body = payload.value;
  if (body.v !== 1) return refused(`version ${JSON.stringify(body.v)} of ${meaning.kind} is not known`);
  switch (meaning.kind) {
    case 'evidence':
      return decodeEvidence(meaning, body);
    case 'policy':
      return isListOf(body.events, isRecordedEvent) && body.events.length === 1
        ? ok({ ...meaning, record: body as unknown as PolicyCommit })
        : refused('`events` does not hold the one change of a policy');
    case 'trajectory':
      return isCount(body.covered) && isListOf(body.events, isRecordedEvent)
        ? ok({ ...meaning, record: body as unknown as TrajectoryRecord })
        : refused('`covered` or `events` does not have the shape of a trajectory record');
    case 'signals':
      return isCount(body.covered) && isListOf(body.events, isRecordedEvent)
        ? ok({ ...meaning, record: body as unknown as SignalsRecord })
        : refused('`covered` or `events` does not have the shape of a signals record');
    case 'dead-letter':
      return isListOf(body.events, isDeadLettered) && body.events.length === 1
        ? ok({ ...meaning, letter: body.events[0] as DeadLettered })
        : refused('`events` does not hold one dead letter');
    case 'act':
      return isListOf(body.events, isAct) && body.events.length === 1
        ? ok({ ...meaning, act: body.events[0] as OperatorAct })
        : refused('`events` does not hold one act');
    case 'position':
      return isObject(body.positions)
        ? ok({ ...meaning, record: body as unknown as ReaderPosition })
        : refused('`positions` is missing');
  }
}

type EvidenceMeaning = Extract<SubjectMeaning, { kind: 'evidence' }>;

function decodeEvidence(meaning: EvidenceMeaning, body: Record<string, unknown>): Result<Decoded, string> {
  const { tenant, work } = meaning;
  const { events, contents } = body;
  if (!isListOf(events, isEvent)) return refused('`events` is not a list of events with type, source and id');
  if (!isListOf(contents, isDigest) || contents.length !== events.length)
    return refused('`contents` does not hold one digest for each event');
  return ok({
    kind: 'evidence',
    tenant,
    work,
    events: events
      .map((event, at) => ({ event, key: identityKey(tenant, event), content: contents[at] as string }))
      .filter(({ event }) => mayStandUnder(meaning, event)),
  });
}

function parse(payload: Uint8Array): Result<Record<string, unknown>, string> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    return isObject(value) ? ok(value) : refused('the payload is not a JSON object');
  } catch (error) {
    return refused(`the payload is not JSON in UTF-8: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isDigest = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isEvent = (value: unknown): value is EvidenceEvent =>
  isObject(value) && isText(value.type) && isText(value.id) && isText(value.source) && isObject(value.data);
const isRecordedEvent = (value: unknown): value is { type: string; id: string; data: object } =>
  isObject(value) && isText(value.type) && isText(value.id) && isObject(value.data);
const isDeadLettered = (value: unknown): value is DeadLettered => {
  if (!isRecordedEvent(value) || value.type !== 'headway.message.dead-lettered') return false;
  const { reader, stream, generation, sequence, subject, error, actsKnown } = value.data as Record<string, unknown>;
  return (
    isText(reader) &&
    reader !== 'projection' &&
    (letterReaders as readonly string[]).includes(reader) &&
    isText(stream) &&
    isCount(generation) &&
    isCount(sequence) &&
    isText(subject) &&
    isText(error) &&
    isCount(actsKnown)
  );
};
const isAct = (value: unknown): value is OperatorAct =>
  isRecordedEvent(value) && isText(Reflect.get(value, 'by')) && isText(Reflect.get(value, 'why'));
function isListOf<Member>(value: unknown, is: (member: unknown) => member is Member): value is Member[] {
  return Array.isArray(value) && value.every(is);
}

import { setTimeout as delay } from 'node:timers/promises';
import {
  type EvidenceCommit,
  encodeRecord,
  identityKey,
  parseSubject,
  type ReaderPosition,
  STREAMS,
  type StreamName,
  subjects,
  type TrajectoryRecord,
} from '@headway/contracts';
import { ARCHIVED_STREAMS, type Bus, type ExactMessage } from '@headway/eventlog';
import type { ArchivedMessage } from '../rows.ts';
import type { StandingIdentity } from '../write/identities.ts';
import type { Place } from '../write/positions.ts';
import { type PlanParts, planStream, type StreamPlan, sameMessage } from './plan.ts';
import type { ArchivedEnd, BusRecords, Fate, Gap, KeptMessage } from './records.ts';

/** Sequences of lost messages that one run stands in for, at most: more is a mistake somewhere. */
export const GAP_MOST = 10_000_000;
/**
 * How long services have, once the streams are marked, to stop writing and to note how far they had seen each stream; they
 * look once a second, and note what they find three times. Milliseconds.
 */
export const NOTICE_MS = 6_000;

export interface RestoreParts extends PlanParts {
  readonly bus: Bus;
  readonly records: BusRecords;
  readArchive(stream: string, after: Place): AsyncGenerator<ArchivedMessage>;
  findIdentities(keys: readonly string[]): Promise<Map<string, StandingIdentity>>;
  readonly onProgress?: (progress: RestoreProgress) => void;
  /** {@link NOTICE_MS} unless told. */
  readonly noticeMs?: number;
}

export interface RestoreProgress {
  readonly stream: string;
  readonly done: number;
  readonly of: number;
}

export interface RestoredStream {
  readonly stream: string;
  readonly found: StreamPlan['found'];
  /** Where the archive ends. */
  readonly archived: number;
  /** Where the stream ended, and where it ends now. */
  readonly endedAt: number;
  readonly endsAt: number;
  readonly generation: { readonly before: number; readonly after: number };
  readonly published: number;
  /** Messages that were written again without the message id that they once had. */
  readonly withoutId: number;
  /** Acknowledged messages that no copy is left of, as far as a service saw them; `null` = none is known of. */
  readonly gap: (Gap & { readonly count: number }) | null;
  /** What became of the messages that stood in the place of archived ones. */
  readonly kept: Readonly<Record<Exclude<Fate, 'waiting'>, number>>;
}

/** RECORD first: what it covers tells how far EVIDENCE had come. */
const inOrder = (ends: readonly ArchivedEnd[]) =>
  ARCHIVED_STREAMS.flatMap((name) => ends.filter(({ stream }) => stream === name));

/** What a restore would do. Changes nothing. */
export async function planRestore(
  parts: PlanParts & { readonly records: Pick<BusRecords, 'archivedEnds' | 'archivedAt' | 'trimmedUpTo'> },
): Promise<readonly StreamPlan[]> {
  const plans: StreamPlan[] = [];
  for (const end of inOrder(await parts.records.archivedEnds())) plans.push(await planStream(parts, end));
  return plans;
}

/**
 * Brings every archived stream to what the archive has of it, each message at its own sequence; what is known to have
 * been lost behind that is stood in for by gap messages, so that no sequence is ever given twice. May be run again
 * wherever it ended. Streams that are level are left alone.
 */
export function restoreBus(parts: RestoreParts): Promise<readonly RestoredStream[]> {
  return parts.records.alone(async (lost) => {
    const done: RestoredStream[] = [];
    // All are marked before the first one stands again: a writer of one stream reads the others too.
    const plans = (await planRestore(parts)).filter(({ found }) => found !== 'level');
    for (const { now } of plans) if (now !== null) await parts.bus.mark(now.stream, now.generation, true);
    if (plans.length > 0) await delay(parts.noticeMs ?? NOTICE_MS);
    for (const end of inOrder(await parts.records.archivedEnds())) {
      const plan = await planStream(parts, end);
      lost.throwIfAborted();
      const result = plan.found === 'level' ? untouched(plan) : await restoreStream(parts, plan, lost);
      done.push(result);
    }
    return done;
  });
}

const noKept = { appended: 0, known: 0, derived: 0, 'set-aside': 0 };

const untouched = ({ stream, end, now, found }: StreamPlan): RestoredStream => ({
  stream,
  found,
  archived: end.sequence,
  endedAt: now?.lastSequence ?? 0,
  endsAt: now?.lastSequence ?? 0,
  generation: { before: end.generation, after: end.generation },
  published: 0,
  withoutId: 0,
  gap: null,
  kept: noKept,
});

async function restoreStream(parts: RestoreParts, plan: StreamPlan, lost: AbortSignal): Promise<RestoredStream> {
  const { bus, records, onProgress = () => {} } = parts;
  const { end } = plan;
  const stream = end.stream as StreamName;
  const from = await makeRoom(parts, plan);
  let published = 0;
  let withoutId = 0;
  if (from < end.sequence) {
    const archived = upTo(parts.readArchive(stream, await placeBefore(parts, end, from)), end.sequence, lost);
    const done = await bus.appendExactly(stream, from, archived, (count) =>
      onProgress({ stream, done: count, of: end.sequence - from }),
    );
    ({ appended: published, withoutId } = done);
    if (from + published !== end.sequence)
      throw new Error(`the archive of ${stream} holds ${published} messages after ${from}, not ${end.sequence - from}`);
  }
  const gap = await standInForLost(parts, end);
  const kept = await placeKept(parts, stream);
  const now = await bus.log.describe(stream);
  lost.throwIfAborted();
  await records.restored({ stream, from: end, generation: plan.generation, created: now.created, gap });
  await bus.mark(stream, plan.generation, false);
  return {
    stream,
    found: plan.found,
    archived: end.sequence,
    endedAt: plan.now?.lastSequence ?? 0,
    endsAt: now.lastSequence,
    generation: { before: end.generation, after: plan.generation },
    published,
    withoutId,
    gap: gap === null ? null : { ...gap, count: gap.last - gap.first + 1 },
    kept,
  };
}

/** Makes sure that the stream ends where archived messages can follow; answers with that sequence. */
async function makeRoom({ bus, records }: RestoreParts, plan: StreamPlan): Promise<number> {
  const { end, found } = plan;
  const stream = end.stream as StreamName;
  const trimmed = await records.trimmedUpTo(stream);
  if (found === 'occupied') {
    const newcomers: ArchivedMessage[] = [];
    for await (const message of bus.readToEnd(stream, plan.agreed)) newcomers.push(message);
    await records.keep(newcomers, plan.agreed);
  }
  const last = found === 'missing' ? 0 : (await bus.log.describe(stream)).lastSequence;
  if (found === 'missing' || found === 'occupied' || (last === 0 && trimmed > 0)) {
    await bus.remake(stream, end.generation, trimmed);
    return trimmed;
  }
  return last;
}

/** The place in the archive before which everything up to a sequence stands: generations follow one another. */
async function placeBefore({ records }: RestoreParts, end: ArchivedEnd, sequence: number): Promise<Place> {
  for (let generation = 1; generation < end.generation; generation += 1) {
    const last = await records.generationEnd(end.stream, generation);
    if (last !== null && last > sequence) return { generation, sequence };
  }
  return { generation: end.generation, sequence };
}

async function* upTo(
  messages: AsyncIterable<ArchivedMessage>,
  last: number,
  lost: AbortSignal,
): AsyncGenerator<ExactMessage> {
  for await (const message of messages) {
    lost.throwIfAborted();
    if (message.sequence > last) return;
    yield message;
  }
}

/** Writes a gap message for each sequence that was acknowledged and is lost; `null` where none is known of. */
async function standInForLost({ bus, onProgress = () => {} }: RestoreParts, end: ArchivedEnd): Promise<Gap | null> {
  const stream = end.stream as StreamName;
  const { lastSequence } = await bus.log.describe(stream);
  const spokenOf = stream === STREAMS.evidence ? await evidenceSpokenOf(bus) : 0;
  const last = Math.max(end.lostUpTo, spokenOf);
  if (last <= lastSequence) return null;
  const gap = { first: lastSequence + 1, last };
  const count = last - lastSequence;
  if (count > GAP_MOST)
    throw new Error(`${count} lost messages of ${stream} are more than ${GAP_MOST}: nothing was written for them`);
  const message = { subject: subjects.gap(rootOf(stream)), headers: {}, payload: encodeRecord({ v: 1, gap }) };
  await bus.appendExactly(stream, lastSequence, Array.from({ length: count }).fill(message) as ExactMessage[], (done) =>
    onProgress({ stream: `${stream} gap`, done, of: count }),
  );
  return gap;
}

const roots: Readonly<Record<string, string>> = {
  EVIDENCE: 'evidence',
  RECORD: 'record',
  EFFECTS: 'effect',
  ACTS: 'act',
};
const rootOf = (stream: StreamName): string => roots[stream] ?? stream.toLowerCase();

/** The highest sequence of EVIDENCE that RECORD speaks of: it was there, so it is not given to anything else. */
async function evidenceSpokenOf(bus: Bus): Promise<number> {
  let highest = 0;
  for await (const batch of bus.log.newestOfEach(STREAMS.record, subjects.allTrajectories))
    for (const { payload } of batch) {
      const { covered } = JSON.parse(Buffer.from(payload).toString('utf8')) as TrajectoryRecord;
      highest = Math.max(highest, covered);
    }
  const position = await bus.log.last(STREAMS.record, subjects.position('classifier'));
  if (position === null) return highest;
  const { positions } = JSON.parse(Buffer.from(position.payload).toString('utf8')) as ReaderPosition;
  for (const [name, sequence] of Object.entries(positions))
    if (name.startsWith('evidence:')) highest = Math.max(highest, sequence);
  return highest;
}

/** Gives every kept message its fate. What an earlier run has appended is recognised in the stream. */
async function placeKept(parts: RestoreParts, stream: StreamName): Promise<RestoredStream['kept']> {
  const counts = { ...noKept };
  const waiting = await parts.records.waiting(stream);
  for (const message of waiting) {
    const placed = await placeOne(parts, stream, message);
    await parts.records.decide(message.id, placed.fate, placed.at);
    counts[placed.fate] += 1;
  }
  return counts;
}

interface Placed {
  readonly fate: Exclude<Fate, 'waiting'>;
  readonly at: number | null;
}

async function placeOne(parts: RestoreParts, stream: StreamName, message: KeptMessage): Promise<Placed> {
  const meaning = parseSubject(message.subject);
  if (meaning !== null && meaning.kind !== 'evidence') return { fate: 'derived', at: null };
  if (meaning === null && (await parts.records.movedAfter(stream, message.subject, message.agreed)))
    return { fate: 'set-aside', at: null };
  const rest = meaning === null ? message : await withoutKnown(parts, meaning.tenant, message);
  if (rest === null) return { fate: 'known', at: null };
  const newest = await parts.bus.log.last(stream, message.subject);
  if (newest !== null && sameMessage(newest, rest)) return { fate: 'appended', at: newest.sequence };
  const { lastSequence } = await parts.bus.log.describe(stream);
  await parts.bus.appendExactly(stream, lastSequence, [rest]);
  return { fate: 'appended', at: lastSequence + 1 };
}

/** The commit without the facts whose identity stands already; `null` = all do. */
async function withoutKnown(
  { findIdentities }: RestoreParts,
  tenant: string,
  message: ArchivedMessage,
): Promise<ArchivedMessage | null> {
  const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
  const keys = commit.events.map((event) => identityKey(tenant, event));
  const known = await findIdentities(keys);
  if (known.size === 0) return message;
  const left = keys.flatMap((key, at) => (known.has(key) ? [] : [at]));
  if (left.length === 0) return null;
  const events = left.map((at) => commit.events[at]) as EvidenceCommit['events'];
  const contents = left.map((at) => commit.contents[at]) as EvidenceCommit['contents'];
  const { messageId: _, ...rest } = message;
  return { ...rest, payload: encodeRecord({ v: 1, events, contents }) };
}

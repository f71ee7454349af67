import {
  aggregateOf,
  identityKey,
  LETTER_ERROR,
  letterId,
  type SignalEvent,
  type TrajectoryEvent,
} from '@headway/contracts';
import {
  type ArchivedMessage,
  type Changes,
  type DeadLetterRow,
  type MemberRow,
  SIGNALLER,
  type SignalRow,
  type StandingIdentity,
  storableText,
  type TimelineRow,
  type WorkKey,
} from '@headway/readmodel';
import { type Decode, type Decoded, decodeAhead } from '../decode.ts';
import { afterAssessment, afterCover, isTurn } from '../projectors/assessment.ts';
import { afterSignalEvent } from '../projectors/signal.ts';
import { assessmentEntry, signalEntry } from '../projectors/timeline.ts';
import { Admission } from './admission.ts';
import { deadLetter } from './dead-letter.ts';
import { WorkTable } from './work-table.ts';

type Understood = Exclude<Decoded, { kind: 'nothing' | 'evidence' | 'policy' | 'act' }>;
type Read<Kind extends Understood['kind']> = Extract<Understood, { kind: Kind }> & { message: ArchivedMessage };

const isForeign = ({ kind }: Decoded): boolean => kind === 'evidence' || kind === 'policy' || kind === 'act';

/** Writes what follows from messages of RECORD: archive, classes, signals, timeline, how far the signaller got. */
export async function applyRecord(
  changes: Changes,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<void> {
  await Promise.all([changes.archive(messages), decodeAhead(messages, decode)]);
  await projectRecord(changes, messages, decode);
}

/** As `applyRecord`, of messages that are archived. */
export async function projectRecord(
  changes: Changes,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<void> {
  const admission = await Admission.open(changes, messages);
  const understood: (Understood & { message: ArchivedMessage })[] = [];
  for (const message of messages) {
    if (!admission.admits(message)) continue;
    const decoded = decode(message);
    if (!decoded.ok) admission.refuse(deadLetter(message, decoded.failure));
    else if (isForeign(decoded.value)) admission.refuse(deadLetter(message, 'this does not belong in RECORD'));
    else if (decoded.value.kind !== 'nothing') understood.push({ ...(decoded.value as Understood), message });
  }
  const timeline: TimelineRow[] = [];
  const of = <Kind extends Understood['kind']>(kind: Kind) =>
    understood.filter((item) => item.kind === kind) as Read<Kind>[];
  await projectTrajectories(changes, of('trajectory'), timeline);
  await projectSignals(changes, of('signals'), timeline);
  await changes.appendTimeline(timeline.sort((a, b) => a.sequence - b.sequence));
  await rememberPositions(changes, of('position'));
  await changes.keepDeadLetters(lettersOf(of('dead-letter')));
  await admission.save(changes);
}

/** What the classifier cannot fold; the newest word on each message. */
function lettersOf(read: readonly Read<'dead-letter'>[]) {
  const letters = new Map<string, DeadLetterRow>();
  for (const { letter, message } of read) {
    const { reader, stream, generation, sequence, subject, error, actsKnown } = letter.data;
    const row = { reader, stream, generation, sequence, subject, error: error.slice(0, LETTER_ERROR), actsKnown };
    letters.set(letterId(row), { ...row, aggregate: aggregateOf(subject), recordedAt: message.recordedAt });
  }
  return [...letters.values()];
}

/** The highest sequence of EVIDENCE that the messages speak of; 0 where they speak of none. */
export function evidenceSpokenOf(messages: readonly ArchivedMessage[], decode: Decode): number {
  let highest = 0;
  for (const message of messages) {
    const decoded = decode(message);
    if (decoded.ok && decoded.value.kind === 'trajectory') highest = Math.max(highest, decoded.value.record.covered);
  }
  return highest;
}

async function projectTrajectories(changes: Changes, read: readonly Read<'trajectory'>[], timeline: TimelineRow[]) {
  const works = await WorkTable.load(changes, read);
  const causes = await changes.findIdentities(
    read.flatMap(({ tenant, record }) => assessedOf(record.events).map(({ cause }) => identityKey(tenant, cause))),
  );
  for (const { tenant, work, record, message } of read) {
    let row = works.get(tenant, work);
    for (const event of assessedOf(record.events)) {
      const cause = causeOf(causes.get(identityKey(tenant, event.cause)));
      if (isTurn(row, event.data)) timeline.push(assessmentEntry(row, event, cause?.time ?? null, message));
      row = afterAssessment(row, event.data, cause, message);
    }
    works.set(afterCover(row, record, message));
  }
  await works.save(changes);
}

const assessedOf = (events: readonly TrajectoryEvent[]) =>
  events.filter((event) => event.type === 'headway.work.assessed');
const causeOf = (identity: StandingIdentity | undefined) =>
  identity === undefined ? null : { sequence: identity.sequence, time: identity.reportedAt };

async function projectSignals(changes: Changes, read: readonly Read<'signals'>[], timeline: TimelineRow[]) {
  if (read.length === 0) return;
  const known = new Map<string, SignalRow>();
  for (const row of await changes.loadSignals(distinctSignals(read))) known.set(keyOf(row.tenant, row.signal), row);
  const people = await peopleOfJoined(changes, read);
  const changed = new Map<string, SignalRow>();
  const members = new Map<string, MemberRow>();
  const touched = new Map<string, WorkKey>();
  for (const { tenant, record, message } of read)
    for (const event of record.events) {
      const { signal } = event.data;
      const key = keyOf(tenant, signal);
      const joined = event.type === 'headway.signal.joined' ? people.get(keyOf(tenant, event.data.work)) : undefined;
      const step = afterSignalEvent(known.get(key) ?? null, tenant, event, message, joined);
      if (step.row !== null) {
        known.set(key, step.row);
        changed.set(key, { ...step.row, change: changes.change });
      }
      for (const member of step.members) members.set(keyOf(tenant, signal, member.work), { tenant, signal, ...member });
      for (const work of step.works) {
        touched.set(keyOf(tenant, work), { tenant, work });
        timeline.push(signalEntry({ tenant, work }, event, message));
      }
    }
  await changes.saveSignals([...changed.values()]);
  await changes.saveMembers([...members.values()]);
  await changes.refreshOpenSignals([...touched.values()]);
  await changes.coverSignals(coverageOf(read));
}

/** Who is on each work that joins a shared failure: they may answer it too. */
async function peopleOfJoined(changes: Changes, read: readonly Read<'signals'>[]) {
  const joined = read.flatMap(({ tenant, record }) =>
    record.events.flatMap((event) =>
      event.type === 'headway.signal.joined' ? [{ tenant, work: event.data.work }] : [],
    ),
  );
  const people = new Map<string, readonly string[]>();
  if (joined.length === 0) return people;
  const distinct = new Map(joined.map((key) => [keyOf(key.tenant, key.work), key]));
  for (const { tenant, work, orchestrator, worker } of await changes.loadWorks([...distinct.values()]))
    people.set(
      keyOf(tenant, work),
      [orchestrator, worker].filter((name) => name !== null),
    );
  return people;
}

function distinctSignals(read: readonly Read<'signals'>[]) {
  const distinct = new Map<string, { tenant: string; signal: string }>();
  for (const { tenant, record } of read)
    for (const event of record.events as readonly SignalEvent[])
      distinct.set(keyOf(tenant, event.data.signal), { tenant, signal: event.data.signal });
  return [...distinct.values()];
}

function coverageOf(read: readonly Read<'signals'>[]) {
  const covered = new Map<string, number>();
  for (const { tenant, record } of read) covered.set(tenant, Math.max(covered.get(tenant) ?? 0, record.covered));
  return [...covered].map(([tenant, sequence]) => ({ tenant, covered: sequence }));
}

/** Only the signaller's position is asked for by a reader of ours: it opens and closes what the views show. */
async function rememberPositions(changes: Changes, read: readonly Read<'position'>[]) {
  const newest = read.findLast(({ reader }) => reader === SIGNALLER);
  const sequence = newest?.record.positions.RECORD;
  if (newest === undefined || !Number.isSafeInteger(sequence)) return;
  await changes.rememberPlace(SIGNALLER, newest.message.stream, {
    generation: newest.message.generation,
    sequence: sequence as number,
  });
}

const keyOf = (...parts: readonly string[]) => parts.map(storableText).join('\0');

import { type EvidenceCommit, mayStandUnder, parseSubject, type TickCommit } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { type Fact, judgeEvidence } from '@headway/trajectory';
import { type Answers, Unjudged } from './apply-answers.ts';
import { certainly, type Poisoned, Unfoldable } from './poisoned.ts';
import type { Policies } from './policies.ts';
import { inTraceOf } from './tracing.ts';
import type { Turn } from './turn.ts';
import { PENDING_BYTES, type Work, type Works } from './works.ts';

export type ReadCommit = (message: LogMessage) => EvidenceCommit['events'];

export interface AssessingParts {
  readonly works: Works;
  readonly answers: Answers;
  readonly turn: Turn;
  readonly poisoned: Poisoned;
  /** Reads a commit of evidence; throws where it cannot be read, now or ever. */
  readonly readCommit: ReadCommit;
  readonly owns: (partition: number) => boolean;
  readonly policies: Policies;
}

/**
 * Folds messages of EVIDENCE, in the order of the stream, into the works of the owned partitions and records what came
 * of it. What a record covers already is passed over, so that reading again changes nothing. Runs inside a turn.
 */
export async function assessEvidence(parts: AssessingParts, messages: readonly LogMessage[]): Promise<void> {
  for (const message of messages) {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind === 'policy') parts.policies.take(message);
    if (meaning?.kind === 'tick' && parts.owns(meaning.partition)) await tickWorks(parts, meaning.partition, message);
    if (meaning?.kind === 'evidence' && parts.owns(meaning.partition)) {
      const work = await parts.works.open(meaning.tenant, meaning.work);
      if (message.sequence > work.covered)
        await unlessPoisoned(parts, work, message, () =>
          inTraceOf('assess evidence', message.headers, (trace) => {
            work.trace = trace;
            return foldCommit(parts, work, message);
          }),
        );
    }
  }
  await parts.works.record();
}

async function unlessPoisoned(
  { poisoned }: AssessingParts,
  work: Work,
  message: LogMessage,
  step: () => Promise<void>,
): Promise<void> {
  if (poisoned.has(work)) return;
  try {
    await step();
  } catch (error) {
    if (error instanceof Unjudged) poisoned.letWait(work, message);
    else if (error instanceof Unfoldable) await poisoned.add(work, message, error);
    else throw error;
  }
}

async function foldCommit(parts: AssessingParts, work: Work, message: LogMessage): Promise<void> {
  // What was dropped is covered, without the events of it that could not be folded.
  const events = parts.poisoned.isDropped(message) ? [] : certainly(() => parts.readCommit(message));
  while (work.within < events.length) {
    if (work.awaits) await standAsideUntilJudged(parts, work);
    const event = events[work.within];
    if (event !== undefined) fold(parts, work, event, message.sequence);
    work.within += 1;
    if (work.pendingBytes >= PENDING_BYTES) await parts.works.recordOne(work);
  }
  work.within = 0;
  work.covered = message.sequence;
  parts.works.changed(work);
}

/** The one boundary where bytes of the log become evidence to fold. */
export function readCommit({ subject, payload }: LogMessage): EvidenceCommit['events'] {
  const commit = JSON.parse(Buffer.from(payload).toString('utf8')) as EvidenceCommit;
  if (commit.v !== 1) throw new TypeError(`version ${JSON.stringify(commit.v)} of evidence is not known`);
  if (!Array.isArray(commit.events)) throw new TypeError('`events` is not a list');
  const meaning = parseSubject(subject);
  return meaning?.kind === 'evidence' ? commit.events.filter((event) => mayStandUnder(meaning, event)) : commit.events;
}

async function tickWorks(parts: AssessingParts, partition: number, message: LogMessage): Promise<void> {
  const tick = readTick(message);
  for (const { tenant, work: name } of parts.works.waiting(partition, message.sequence, parts.policies)) {
    const work = await parts.works.open(tenant, name);
    // A work in the midst of a commit was folded beyond this tick already.
    if (message.sequence <= work.covered || work.within > 0) continue;
    await unlessPoisoned(parts, work, message, async () => {
      if (work.awaits) await standAsideUntilJudged(parts, work);
      fold(parts, work, tick, message.sequence);
      work.covered = message.sequence;
    });
  }
}

/** A tick says nothing but that it is there: one whose payload cannot be read counts like the others. */
function readTick(message: LogMessage): Fact {
  try {
    const { events } = JSON.parse(Buffer.from(message.payload).toString('utf8')) as TickCommit;
    return { ...events[0], type: 'headway.monitor.ticked' };
  } catch {
    return { type: 'headway.monitor.ticked' };
  }
}

/** A reply may set the counters to zero, so what follows it can only be folded once the signaller has judged it. */
async function standAsideUntilJudged(parts: AssessingParts, work: Work): Promise<void> {
  if (work.changed) await parts.works.recordOne(work);
  const since = work.awaitsSince;
  if (since !== null) await parts.turn.standAside(parts.answers.judged(work.tenant, since));
  work.awaits = false;
  work.awaitsSince = null;
}

function fold(parts: AssessingParts, work: Work, fact: Fact, sequence: number): void {
  const { tenant, work: name } = work;
  const policyFor = (lane: string | null) => parts.policies.at(tenant, lane, sequence);
  const judged = certainly(() => judgeEvidence(work.state, fact, { tenant, work: name }, policyFor));
  work.state = judged.state;
  for (const event of judged.events) {
    work.pending.push(event);
    work.pendingBytes += JSON.stringify(event).length;
    if (event.type === 'headway.signal.replied') work.awaits = true;
  }
  parts.works.changed(work);
}

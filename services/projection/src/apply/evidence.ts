import type { ArchivedMessage, Changes, PolicyRow, TimelineRow, UsageSpanRow, WorkRow } from '@headway/readmodel';
import { type Decode, type DecodedEvent, decodeAhead } from '../decode.ts';
import { policyRow } from '../projectors/policy.ts';
import { evidenceEntry } from '../projectors/timeline.ts';
import { usageSpan } from '../projectors/usage.ts';
import { afterEvidence } from '../projectors/work.ts';
import { Admission } from './admission.ts';
import { deadLetter } from './dead-letter.ts';
import { WorkTable } from './work-table.ts';

interface Offered extends DecodedEvent {
  readonly tenant: string;
  readonly work: string;
  readonly message: ArchivedMessage;
}

/** Writes what follows from messages of EVIDENCE: archive, identities, works, timeline. */
export async function applyEvidence(
  changes: Changes,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<void> {
  await Promise.all([changes.archive(messages), decodeAhead(messages, decode)]);
  await projectEvidence(changes, messages, decode);
}

/**
 * As `applyEvidence`, of messages that are archived. An event whose identity stands already changes nothing, whatever
 * its content: the first one stands. Identities are taken also of what has to wait: they hold for ever.
 */
export async function projectEvidence(
  changes: Changes,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<void> {
  const admission = await Admission.open(changes, messages);
  const offered = messages.flatMap((message) => offeredBy(message, decode));
  const fresh = await changes.takeIdentities(offered.map(identityOf));
  const accepted = new Map<ArchivedMessage, Offered[]>();
  for (const [at, event] of offered.entries())
    if (fresh.has(at)) accepted.set(event.message, [...(accepted.get(event.message) ?? []), event]);
  const works = await WorkTable.load(changes, offered);
  const added: Added = { timeline: [], usage: [], policies: [] };
  for (const message of messages) {
    if (!admission.admits(message)) continue;
    const error = unreadable(message, decode) ?? project(works, added, accepted.get(message) ?? []);
    if (error !== null) admission.refuse(deadLetter(message, error));
    else added.policies.push(...policiesIn(message, decode));
  }
  await changes.appendTimeline(added.timeline);
  await changes.appendUsage(added.usage);
  await changes.savePolicies(added.policies);
  await works.save(changes);
  await admission.save(changes);
}

function offeredBy(message: ArchivedMessage, decode: Decode): Offered[] {
  const decoded = decode(message);
  if (!decoded.ok || decoded.value.kind !== 'evidence') return [];
  const { tenant, work, events } = decoded.value;
  return events.map((event) => ({ ...event, tenant, work, message }));
}

const identityOf = ({ key, content, tenant, work, event, message }: Offered) => ({
  key,
  content,
  tenant,
  work,
  generation: message.generation,
  sequence: message.sequence,
  reportedAt: event.time ?? null,
});

/** Why a message cannot be read; `null` where it can. */
function unreadable(message: ArchivedMessage, decode: Decode): string | null {
  const decoded = decode(message);
  if (!decoded.ok) return decoded.failure;
  const { kind } = decoded.value;
  return kind === 'evidence' || kind === 'policy' || kind === 'nothing' ? null : 'this does not belong in EVIDENCE';
}

/** What the events of a batch add, in order. */
interface Added {
  readonly timeline: TimelineRow[];
  readonly usage: UsageSpanRow[];
  readonly policies: PolicyRow[];
}

function policiesIn(message: ArchivedMessage, decode: Decode): PolicyRow[] {
  const decoded = decode(message);
  if (!decoded.ok || decoded.value.kind !== 'policy') return [];
  return [policyRow(decoded.value.tenant, decoded.value.record, message)];
}

/** Projects the events of one message, all or none. Answers with why that is not possible, or `null`. */
function project(works: WorkTable, added: Added, events: readonly Offered[]): string | null {
  const [first] = events;
  if (first === undefined) return null;
  try {
    let row: WorkRow = works.get(first.tenant, first.work);
    const entries: TimelineRow[] = [];
    const spans: UsageSpanRow[] = [];
    for (const { event, message } of events) {
      row = afterEvidence(row, event, message);
      entries.push(evidenceEntry(row, event, row.incarnation, message));
      const span = usageSpan(row, event);
      if (span !== null) spans.push(span);
    }
    works.set(row);
    for (const entry of entries) added.timeline.push(entry);
    for (const span of spans) added.usage.push(span);
    return null;
  } catch (error) {
    return String(error);
  }
}

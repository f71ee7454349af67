import type {
  ArchivedMessage,
  Changes,
  DeadLetterRow,
  PolicyRow,
  TimelineRow,
  UsageSpanRow,
  WorkRow,
} from '@headway/readmodel';
import { type DecodedEvent, decode } from '../decode.ts';
import { policyRow } from '../projectors/policy.ts';
import { evidenceEntry } from '../projectors/timeline.ts';
import { usageSpan } from '../projectors/usage.ts';
import { afterEvidence } from '../projectors/work.ts';
import { deadLetter } from './dead-letter.ts';
import { WorkTable } from './work-table.ts';

interface Offered extends DecodedEvent {
  readonly tenant: string;
  readonly work: string;
  readonly message: ArchivedMessage;
}

/**
 * Writes what follows from messages of EVIDENCE: archive, identities, works, timeline. An event whose identity stands
 * already changes nothing, whatever its content: the first one stands.
 */
export async function applyEvidence(changes: Changes, messages: readonly ArchivedMessage[]): Promise<void> {
  const letters: DeadLetterRow[] = [];
  const offered: Offered[] = [];
  const policies: PolicyRow[] = [];
  for (const message of messages) {
    const decoded = decode(message);
    if (!decoded.ok) letters.push(deadLetter(message, decoded.failure));
    else if (decoded.value.kind === 'evidence') {
      const { tenant, work, events } = decoded.value;
      for (const event of events) offered.push({ ...event, tenant, work, message });
    } else if (decoded.value.kind === 'policy')
      policies.push(policyRow(decoded.value.tenant, decoded.value.record, message));
    else if (decoded.value.kind !== 'nothing') letters.push(deadLetter(message, 'this does not belong in EVIDENCE'));
  }
  await changes.archive(messages);
  await changes.keepDeadLetters(letters);
  await changes.savePolicies(policies);
  const fresh = await changes.takeIdentities(offered.map(identityOf));
  await project(
    changes,
    offered.filter((_, at) => fresh.has(at)),
  );
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

async function project(changes: Changes, accepted: readonly Offered[]): Promise<void> {
  const works = await WorkTable.load(changes, accepted);
  const timeline: TimelineRow[] = [];
  const usage: UsageSpanRow[] = [];
  for (const { tenant, work, event, message } of accepted) {
    const row: WorkRow = afterEvidence(works.get(tenant, work), event, message);
    works.set(row);
    timeline.push(evidenceEntry(row, event, row.incarnation, message));
    const span = usageSpan(row, event);
    if (span !== null) usage.push(span);
  }
  await changes.appendTimeline(timeline);
  await changes.appendUsage(usage);
  await works.save(changes);
}

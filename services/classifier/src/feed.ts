import {
  parseSubject,
  type SignalEvent,
  type SignalsRecord,
  subjects,
  type TrajectoryEvent,
  type TrajectoryRecord,
} from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { LogUnavailable } from '@headway/eventlog';
import type { TrajectoryLog } from './ports.ts';

/** Digits of a signature that stand in a subject and are shown to people. */
export const SIGNATURE_PREFIX = 12;

/** One event for other tools: a CloudEvent under a public subject. */
export interface Announcement {
  readonly subject: string;
  readonly id: string;
  readonly event: unknown;
}

/**
 * Unpacks a record into the public events of `trajectory.>`: assessments, signals raised and acknowledgements. At least
 * once; the event id is the message id and what a subscriber deduplicates by.
 */
export function announcementsOf(message: LogMessage): readonly Announcement[] {
  const meaning = parseSubject(message.subject);
  const time = new Date(message.recordedAt).toISOString();
  if (meaning?.kind === 'trajectory') {
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as TrajectoryRecord;
    return record.events.flatMap((event) => announceAssessment(meaning.tenant, event, time));
  }
  if (meaning?.kind === 'signals') {
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as SignalsRecord;
    return record.events.flatMap((event) => announceSignal(meaning.tenant, event, time));
  }
  return [];
}

export async function announce(log: TrajectoryLog, messages: readonly LogMessage[]): Promise<void> {
  const announcements = messages.flatMap(announcementsOf);
  const answers = await Promise.all(
    announcements.map(({ subject, id, event }) =>
      log.append({ subject, messageId: id, payload: Buffer.from(JSON.stringify(event), 'utf8') }),
    ),
  );
  const lost = answers.find((answer) => answer.outcome === 'unavailable' || answer.outcome === 'conflict');
  if (lost !== undefined && 'reason' in lost) throw new LogUnavailable(lost.reason);
}

const cloudEvent = (id: string, type: string, tenant: string, subject: string, time: string, data: unknown) => ({
  specversion: '1.0',
  id,
  source: 'headway/classifier',
  type,
  subject,
  time,
  tenant,
  datacontenttype: 'application/json',
  data,
});

function announceAssessment(tenant: string, event: TrajectoryEvent, time: string): Announcement[] {
  if (event.type !== 'headway.work.assessed') return [];
  return [
    {
      subject: subjects.feed.assessment(tenant, event.work),
      id: event.id,
      event: cloudEvent(event.id, event.type, tenant, event.work, time, event.data),
    },
  ];
}

function announceSignal(tenant: string, event: SignalEvent, time: string): Announcement[] {
  if (event.type === 'headway.signal.raised') {
    const { kind, works, signature } = event.data;
    const about = kind === 'shared-failure' ? (signature ?? '').slice(0, SIGNATURE_PREFIX) : (works[0] ?? '');
    return [
      {
        subject: subjects.feed.signal(tenant, kind, about),
        id: event.id,
        event: cloudEvent(event.id, event.type, tenant, about, time, event.data),
      },
    ];
  }
  if (event.type !== 'headway.signal.acknowledged') return [];
  return event.data.works.map((work) => ({
    subject: subjects.feed.acknowledgement(tenant, work),
    // One event a work: a shared failure is acknowledged for all its members.
    id: event.data.works.length === 1 ? event.id : `${event.id}/${work}`,
    event: cloudEvent(event.id, event.type, tenant, work, time, event.data),
  }));
}

import {
  encodeToken,
  parseSubject,
  type SignalEvent,
  type SignalsRecord,
  subjects,
  type TrajectoryEvent,
  type TrajectoryRecord,
} from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { LogUnavailable } from '@headway/eventlog';
import { type Poisoned, Unfoldable } from './poisoned.ts';
import type { TrajectoryLog } from './ports.ts';
import { type Headers, inTraceOf } from './tracing.ts';
import { allWritten } from './works.ts';

/** Digits of a signature that stand in a subject and are shown to people. */
export const SIGNATURE_PREFIX = 12;

/** One event for other tools: a CloudEvent under a public subject. */
export interface Announcement {
  readonly subject: string;
  readonly id: string;
  /** The tenant and the work, or the shared failure, that it is about. */
  readonly about: string;
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

/** What is announced of one work keeps its order: the log may reorder what is under way at once. */
export async function announce(
  log: TrajectoryLog,
  messages: readonly LogMessage[],
  poisoned: Pick<Poisoned, 'add' | 'has' | 'isDropped'>,
): Promise<void> {
  const byWork = new Map<string, Traced[]>();
  for (const message of messages) {
    for (const announcement of await announceable(message, poisoned)) {
      const traced = { ...announcement, trace: message.headers };
      const before = byWork.get(traced.about);
      if (before === undefined) byWork.set(traced.about, [traced]);
      else before.push(traced);
    }
  }
  await allWritten([...byWork.values()].map((announcements) => inOrder(log, announcements)));
}

/** What a message announces. What cannot be unpacked is a dead letter, and what follows it of the same work waits. */
async function announceable(
  message: LogMessage,
  poisoned: Pick<Poisoned, 'add' | 'has' | 'isDropped'>,
): Promise<readonly Announcement[]> {
  const meaning = parseSubject(message.subject);
  if (meaning?.kind !== 'trajectory' && meaning?.kind !== 'signals') return [];
  // Signals are of a tenant, not of one work: they wait under a work that nobody can report about.
  const about = { tenant: meaning.tenant, work: meaning.kind === 'trajectory' ? meaning.work : '' };
  if (poisoned.isDropped(message) || poisoned.has(about)) return [];
  try {
    return announcementsOf(message);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await poisoned.add(about, message, new Unfoldable(`it cannot be announced: ${reason}`));
    return [];
  }
}

type Traced = Announcement & { readonly trace: Headers };

async function inOrder(log: TrajectoryLog, announcements: readonly Traced[]): Promise<void> {
  for (const { subject, id, event, trace } of announcements) {
    const payload = Buffer.from(JSON.stringify(event), 'utf8');
    const answer = await inTraceOf('announce', trace, (headers) =>
      log.append({ subject, messageId: id, payload, headers }),
    );
    if (answer.outcome === 'unavailable' || answer.outcome === 'conflict') throw new LogUnavailable(answer.reason);
  }
}

const aboutOf = (tenant: string, work: string) => `${tenant} ${work}`;

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
      about: aboutOf(tenant, event.work),
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
        about: aboutOf(tenant, about),
        event: cloudEvent(event.id, event.type, tenant, about, time, event.data),
      },
    ];
  }
  if (event.type !== 'headway.signal.acknowledged') return [];
  const { works, incarnations } = event.data;
  return works.map((work, index) => {
    // One event a work: a shared failure is acknowledged for all its members, and each is told of itself.
    const id = works.length === 1 ? event.id : `${event.id}/${encodeToken(work)}`;
    const data = { ...event.data, works: [work], incarnations: incarnations.slice(index, index + 1) };
    return {
      subject: subjects.feed.acknowledgement(tenant, work),
      id,
      about: aboutOf(tenant, work),
      event: cloudEvent(id, event.type, tenant, work, time, data),
    };
  });
}

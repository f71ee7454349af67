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
import { type Aggregate, certainly, type Poisoned, Unfoldable } from './poisoned.ts';
import type { TrajectoryLog } from './ports.ts';
import { inTraceOf } from './tracing.ts';
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

/**
 * What is announced of one work keeps its order: the log may reorder what is under way at once. A message that cannot be
 * announced stops the work it tells of, or the signals of its tenant, and nobody else.
 */
export async function announce(log: TrajectoryLog, messages: readonly LogMessage[], poisoned: Poisoned): Promise<void> {
  const byWork = new Map<string, Due[]>();
  for (const message of messages) {
    for (const due of await dueOf(message, poisoned)) {
      const before = byWork.get(due.about);
      if (before === undefined) byWork.set(due.about, [due]);
      else before.push(due);
    }
  }
  await allWritten([...byWork.values()].map((announcements) => inOrder(log, announcements, poisoned)));
}

type Due = Announcement & { readonly message: LogMessage; readonly of: Aggregate };

async function dueOf(message: LogMessage, poisoned: Poisoned): Promise<readonly Due[]> {
  const meaning = parseSubject(message.subject);
  if (meaning?.kind !== 'trajectory' && meaning?.kind !== 'signals') return [];
  const of = { tenant: meaning.tenant, work: meaning.kind === 'trajectory' ? meaning.work : null };
  if (poisoned.has(of) || poisoned.isDropped(message)) return [];
  try {
    return certainly(() => announcementsOf(message)).map((announcement) => ({ ...announcement, message, of }));
  } catch (error) {
    if (!(error instanceof Unfoldable)) throw error;
    await poisoned.add(of, message, error);
    return [];
  }
}

async function inOrder(log: TrajectoryLog, announcements: readonly Due[], poisoned: Poisoned): Promise<void> {
  for (const { subject, id, event, message, of } of announcements) {
    if (poisoned.has(of)) continue;
    const payload = Buffer.from(JSON.stringify(event), 'utf8');
    const answer = await inTraceOf('announce', message.headers, (headers) =>
      log.append({ subject, messageId: id, payload, headers }),
    ).catch((error: unknown) => {
      // A message that the log never takes, whatever it holds: too large, above all.
      if (!(error instanceof RangeError)) throw error;
      return new Unfoldable(error.message, { cause: error });
    });
    if (answer instanceof Unfoldable) {
      await poisoned.add(of, message, answer);
      continue;
    }
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

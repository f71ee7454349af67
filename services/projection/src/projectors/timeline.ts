import type { EvidenceEvent, SignalEvent, TrajectoryEvent } from '@headway/contracts';
import type { ArchivedMessage, TimelineRow, WorkKey } from '@headway/readmodel';

/** Characters of one member of an event's data that the timeline shows; the archive keeps all. */
export const SHOWN_MEMBER = 4_096;
/** Members of a long list that the timeline shows. */
export const SHOWN_LIST = 20;
/** Characters of an event's data, as JSON, that the timeline shows in all. */
export const SHOWN_DATA = 32_768;

type Message = Pick<ArchivedMessage, 'stream' | 'generation' | 'sequence' | 'recordedAt'>;

export function evidenceEntry(of: WorkKey, event: EvidenceEvent, incarnation: number, message: Message): TimelineRow {
  return {
    ...entry(of, message),
    kind: 'evidence',
    type: event.type,
    id: event.id,
    incarnation: event.incarnation ?? incarnation,
    time: event.time ?? null,
    data: shown(event.data),
  };
}

export function assessmentEntry(
  of: WorkKey,
  event: Extract<TrajectoryEvent, { type: 'headway.work.assessed' }>,
  time: string | null,
  message: Message,
): TimelineRow {
  return {
    ...entry(of, message),
    kind: 'assessment',
    type: event.type,
    id: event.id,
    incarnation: event.data.incarnation,
    time,
    data: shown(event.data),
  };
}

export function signalEntry(of: WorkKey, event: SignalEvent, message: Message): TimelineRow {
  return {
    ...entry(of, message),
    kind: 'signal',
    type: event.type,
    id: event.id,
    incarnation: event.type === 'headway.signal.raised' ? event.data.incarnation : null,
    time: null,
    data: shown(event.data),
  };
}

const entry = ({ tenant, work }: WorkKey, { stream, generation, sequence, recordedAt }: Message) => ({
  tenant,
  work,
  stream,
  generation,
  sequence,
  recordedAt,
});

/** The data as the timeline shows it: long members are cut and named in `cut`, so that a page stays small. */
export function shown(data: object): object {
  // Nothing of it can be too long where all of it is short.
  if (JSON.stringify(data).length <= SHOWN_MEMBER) return data;
  const cut: string[] = [];
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(data)) {
    const short = shorten(member);
    if (short !== member) cut.push(name);
    Object.defineProperty(kept, name, { value: short, enumerable: true, configurable: true, writable: true });
  }
  if (JSON.stringify(kept).length > SHOWN_DATA) return { cut: ['everything'] };
  return cut.length === 0 ? data : { ...kept, cut };
}

function shorten(member: unknown): unknown {
  const text = typeof member === 'string' ? member : JSON.stringify(member);
  if (text === undefined || text.length <= SHOWN_MEMBER) return member;
  if (typeof member === 'string') return `${member.slice(0, SHOWN_MEMBER)}…`;
  if (!Array.isArray(member)) return null;
  const head = member.slice(0, SHOWN_LIST);
  return JSON.stringify(head).length <= 2 * SHOWN_MEMBER ? head : [];
}

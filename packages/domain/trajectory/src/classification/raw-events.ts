import {
  type EvidenceEvent,
  type EvidenceRefused,
  limits,
  type MonitorTicked,
  type Problem,
  problem,
  readEvent,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { readAttempt } from '@headway/signatures';

/** An event of a log file, by what it is for. */
export type LoggedEvent = EvidenceEvent | MonitorTicked;

type RawEvent = Record<string, unknown>;

const isObject = (raw: unknown): raw is RawEvent => raw !== null && typeof raw === 'object' && !Array.isArray(raw);

/** The members that a case file leaves out, for the event at a position. */
export function withDefaults(raw: unknown, position: number): unknown {
  if (!isObject(raw)) return raw;
  const subject = raw.type === 'headway.monitor.ticked' ? {} : { subject: 'W-1' };
  return { specversion: '1.0', source: 'case', id: String(position), ...subject, ...raw };
}

/** A sent signal with `$1` replaced by the first signal's id, where there is one; any other event as it is. */
export function withFirstSignal(raw: unknown, first: string | null): unknown {
  if (first === null || !isObject(raw) || raw.type !== 'headway.signal.sent' || !isObject(raw.data)) return raw;
  const replaced = (value: unknown) => (typeof value === 'string' ? value.replaceAll('$1', () => first) : value);
  const { inReplyTo, thread, text, ...rest } = raw.data;
  const data = { ...rest, inReplyTo: replaced(inReplyTo), thread: replaced(thread), text: replaced(text) };
  return { ...raw, data };
}

/** Reads an event as it stands in a log: reports as anybody may send them, and the two facts that Headway writes itself. */
export function readLogged(raw: unknown): Result<LoggedEvent, Problem> {
  if (!isObject(raw)) return readEvent(raw);
  if (raw.type === 'headway.monitor.ticked') return readTick(raw);
  if (raw.type === 'headway.evidence.refused') return readRefusal(raw);
  return readEvent(raw);
}

/**
 * The event with the failing set that its output tells, as ingest writes it into the log. A signature that stands there
 * already was read by ingest, and failures that are listed win over the output.
 */
export function withFailures(event: LoggedEvent): LoggedEvent {
  if (event.type !== 'headway.gate.attempted') return event;
  const { outcome, output, failures, signature } = event.data;
  const isTold = outcome !== 'failed' || signature !== undefined || (failures !== undefined && failures.length > 0);
  if (isTold || output === undefined) return event;
  return { ...event, data: { ...event.data, ...readAttempt(event.data) } };
}

function readTick(raw: RawEvent): Result<MonitorTicked, Problem> {
  const missing = missingIdentity(raw);
  if (missing !== null) return refused(missing);
  const { source, id } = raw as { source: string; id: string };
  return ok({ specversion: '1.0', type: 'headway.monitor.ticked', source, id, data: {} });
}

function readRefusal(raw: RawEvent): Result<EvidenceRefused, Problem> {
  const missing = missingIdentity(raw);
  if (missing !== null) return refused(missing);
  const { subject, incarnation } = raw;
  if (typeof subject !== 'string' || subject === '' || subject.length > limits.workId)
    return refused(
      problem('missing_subject', 'Set `subject` to the id of the work that the event is about.', '/subject'),
    );
  if (incarnation !== undefined && !Number.isSafeInteger(incarnation))
    return refused(problem('invalid_event', '`incarnation` is a whole number.', '/incarnation'));
  return ok(raw as unknown as EvidenceRefused);
}

function missingIdentity(raw: RawEvent): Problem | null {
  for (const member of ['source', 'id'] as const) {
    const value = raw[member];
    if (typeof value !== 'string' || value === '' || value.length > limits.identityPart)
      return problem('invalid_event', `The event has no \`${member}\`, or it is too long.`, `/${member}`);
  }
  return null;
}

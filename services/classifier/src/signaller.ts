import {
  encodeRecord,
  parseSubject,
  type SignalEvent,
  STREAMS,
  subjects,
  type TrajectoryRecord,
} from '@headway/contracts';
import { type LogMessage, LogUnavailable, MAX_PAYLOAD_BYTES } from '@headway/eventlog';
import { initialSignals, type SignalsState, signal } from '@headway/trajectory';
import { type Poisoned, Unfoldable } from './poisoned.ts';
import { Fenced, type TrajectoryLog } from './ports.ts';
import { changedParts, outsideParts, partNames, type RecordedPart, readSignals, WHOLE_BYTES } from './signals-state.ts';
import { type Headers, inTraceOf, untraced } from './tracing.ts';
import { allWritten } from './works.ts';

/** Events of one tenant that are gathered before they are recorded, in bytes of JSON. */
const PENDING_BYTES = 256 * 1024;

/** The signals of one tenant: what is recorded, and what came since. */
interface Tenant {
  readonly tenant: string;
  /** Sequence of the newest signals record, a part or not; 0 = none yet. */
  sequence: number;
  /** Sequence of the newest one that is no part, and what that one covers. */
  head: number;
  recorded: number;
  /** Where the parts of the state stand; `null` = the state stands in one record. */
  parts: Map<string, RecordedPart> | null;
  covered: number;
  state: SignalsState;
  pending: SignalEvent[];
  pendingBytes: number;
  /** The trace of the record that caused the newest pending event. */
  trace: Headers;
  /** Readers wait for a record, also if it tells of no signal: a reply was judged. */
  owed: boolean;
  /** The state moved since it was recorded. */
  moved: boolean;
  /** The first message that was judged since the newest record. */
  unrecorded: LogMessage | null;
  /** A message cannot be judged, or what follows from it not be recorded: nothing after it is, in this tenant. */
  held: boolean;
}

export interface SignallerParts {
  readonly log: TrajectoryLog;
  /** Where a tenant is noted that stands still. */
  readonly poisoned: Pick<Poisoned, 'add' | 'isDropped'>;
  /** What follows from an event; as this version of the code judges unless told. */
  readonly judgeEvent?: typeof signal;
}

/**
 * The one that opens and closes signals: reads the assessments of all works of a tenant in the order they were recorded,
 * and records what follows with the state after it. A tenant with a message that cannot be judged stands still from
 * there on; all others go on.
 */
export interface Signaller {
  judge(messages: readonly LogMessage[]): Promise<void>;
  /** Records the state of every tenant that moved, so that a restart reads little again. */
  snapshot(): Promise<void>;
}

export async function loadSignaller({ log, poisoned, judgeEvent = signal }: SignallerParts): Promise<Signaller> {
  const tenants = new Map<string, Tenant>();
  for await (const batch of log.newestOfEach(STREAMS.record, subjects.allSignals)) {
    for (const message of batch) {
      const meaning = parseSubject(message.subject);
      if (meaning?.kind !== 'signals') continue;
      const read = await readSignals(log, message);
      tenants.set(meaning.tenant, {
        ...unrecorded(meaning.tenant),
        ...read,
        sequence: message.sequence,
        recorded: read.covered,
      });
    }
  }

  const append = async (tenant: Tenant, payload: Uint8Array, about: string, headers = untraced) => {
    const subject = subjects.signals(tenant.tenant);
    if (payload.length > MAX_PAYLOAD_BYTES)
      throw new RangeError(
        `the signals of tenant ${tenant.tenant} need a record of ${payload.length} bytes, above ${MAX_PAYLOAD_BYTES}: it has too many live works (about 100,000), or one shared failure too many members (about 20,000); report part of them under another tenant`,
      );
    const answer = await log.append({
      subject,
      payload,
      headers,
      expectedLastSequence: tenant.sequence,
      messageId: `${subject}.${tenant.sequence}.${about}`,
    });
    if (answer.outcome === 'conflict') throw new Fenced(`${subject} was written by another process: ${answer.reason}`);
    if (answer.outcome === 'unavailable') throw new LogUnavailable(answer.reason);
    tenant.sequence = answer.position.sequence;
    return answer.position.sequence;
  };

  /** Records each part of the state that is not as it was recorded last. */
  const writeParts = async (tenant: Tenant) => {
    tenant.parts ??= new Map();
    const { parts, state, head, recorded } = tenant;
    const names = partNames(state);
    for (const name of parts.keys()) if (!names.has(name)) parts.delete(name);
    for (const group of changedParts(state, parts)) {
      const payload = encodeRecord({ v: 1, covered: recorded, events: [], state: group, partsOnly: { head } });
      const sequence = await append(tenant, payload, `${tenant.covered}.parts.${Object.keys(group).join('.')}`);
      for (const [name, part] of Object.entries(group)) parts.set(name, { ...part, sequence });
    }
    return Object.fromEntries([...parts].map(([name, { sequence }]) => [name, sequence]));
  };

  const write = async (tenant: Tenant) => {
    const { covered, pending: events, state } = tenant;
    const whole = tenant.parts === null ? encodeRecord({ v: 1, covered, events, state }) : null;
    const payload =
      whole !== null && whole.length <= WHOLE_BYTES
        ? whole
        : encodeRecord({ v: 1, covered, events, state: outsideParts(state), parts: await writeParts(tenant) });
    tenant.head = await inTraceOf('record signals', tenant.trace, (trace) =>
      append(tenant, payload, String(covered), trace),
    );
    tenant.recorded = covered;
    tenant.pending = [];
    tenant.pendingBytes = 0;
    tenant.trace = untraced;
    tenant.owed = false;
    tenant.moved = false;
    tenant.unrecorded = null;
  };

  /** From the message on nothing of the tenant is judged, until an operator has it tried again or dropped. */
  const hold = async (tenant: Tenant, message: LogMessage, error: unknown) => {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind !== 'trajectory') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    await poisoned.add(meaning, message, new Unfoldable(`the signals of the tenant stand still: ${reason}`));
    tenant.held = true;
  };

  /** Writes, or lets the tenant stand still where what it has to say fits into no record. */
  const record = async (tenant: Tenant) => {
    try {
      await write(tenant);
    } catch (error) {
      if (!(error instanceof RangeError) || tenant.unrecorded === null) throw error;
      await hold(tenant, tenant.unrecorded, error);
      Object.assign(tenant, { pending: [], pendingBytes: 0, owed: false, moved: false });
    }
  };

  const judgeOne = async (message: LogMessage): Promise<Tenant | null> => {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind !== 'trajectory') return null;
    const tenant = tenants.get(meaning.tenant) ?? unrecorded(meaning.tenant);
    tenants.set(meaning.tenant, tenant);
    if (tenant.held || message.sequence <= tenant.covered) return tenant;
    try {
      if (!poisoned.isDropped(message)) judgeInto(tenant, message, judgeEvent);
    } catch (error) {
      await hold(tenant, message, error);
      return tenant;
    }
    tenant.covered = message.sequence;
    tenant.moved = true;
    tenant.unrecorded ??= message;
    return tenant;
  };

  return {
    judge: async (messages) => {
      for (const message of messages) {
        const tenant = await judgeOne(message);
        if (tenant !== null && tenant.pendingBytes >= PENDING_BYTES) await record(tenant);
      }
      const due = [...tenants.values()].filter((tenant) => tenant.pending.length > 0 || tenant.owed);
      await allWritten(due.map(record));
    },
    snapshot: async () => {
      await allWritten([...tenants.values()].filter((tenant) => tenant.moved).map(record));
    },
  };
}

/** All of a message, or nothing of it. */
function judgeInto(tenant: Tenant, message: LogMessage, judgeEvent: typeof signal): void {
  const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as TrajectoryRecord;
  let { state } = tenant;
  const events: SignalEvent[] = [];
  for (const event of record.events) {
    const judged = judgeEvent(state, event, tenant.tenant);
    state = judged.state;
    events.push(...judged.events);
  }
  tenant.state = state;
  tenant.pending.push(...events);
  if (events.length > 0) tenant.trace = message.headers;
  for (const raised of events) tenant.pendingBytes += JSON.stringify(raised).length;
  tenant.owed ||= record.awaits;
}

const unrecorded = (tenant: string): Tenant => ({
  tenant,
  sequence: 0,
  head: 0,
  recorded: 0,
  parts: null,
  covered: 0,
  state: initialSignals(),
  pending: [],
  pendingBytes: 0,
  trace: untraced,
  owed: false,
  moved: false,
  unrecorded: null,
  held: false,
});

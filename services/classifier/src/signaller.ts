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
import { certainly, type Poisoned, Unfoldable } from './poisoned.ts';
import { Fenced, type TrajectoryLog } from './ports.ts';
import {
  changedParts,
  HERE_BYTES,
  outsideParts,
  type Part,
  partNames,
  type RecordedPart,
  readSignals,
  WHOLE_BYTES,
} from './signals-state.ts';
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
  /** The newest message that was judged; `null` = none since the start. */
  newest: LogMessage | null;
  /** What came since cannot be recorded. */
  stuck: boolean;
}

/**
 * The one that opens and closes signals: reads the assessments of all works of a tenant in the order they were recorded,
 * and records what follows with the state after it. The signals of a tenant stand still from a message on that cannot be
 * judged, or after which they cannot be recorded; those of all others go on.
 */
export interface Signaller {
  judge(messages: readonly LogMessage[]): Promise<void>;
  /** Records the state of every tenant that moved, so that a restart reads little again. */
  snapshot(): Promise<void>;
}

export interface SignallerParts {
  readonly log: TrajectoryLog;
  readonly poisoned: Poisoned;
  /** What follows from an event; as this version of the code judges unless told. */
  readonly judgeEvent?: typeof signal;
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
      throw new Unfoldable(
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

  /** Records the parts of the state that are not as they were recorded last; a few are given back, to stand in the record. */
  const writeParts = async (
    tenant: Tenant,
    parts: Map<string, RecordedPart>,
  ): Promise<Readonly<Record<string, Part>>> => {
    const { state, head, recorded } = tenant;
    const names = partNames(state);
    for (const name of parts.keys()) if (!names.has(name)) parts.delete(name);
    const few = changedParts(state, parts, HERE_BYTES);
    if (few.length <= 1) return few[0] ?? {};
    for (const group of changedParts(state, parts)) {
      const payload = encodeRecord({ v: 1, covered: recorded, events: [], state: group, partsOnly: { head } });
      const sequence = await append(tenant, payload, `${tenant.covered}.parts.${Object.keys(group).join('.')}`);
      for (const [name, part] of Object.entries(group)) parts.set(name, { ...part, sequence });
    }
    return {};
  };

  /** Appends the record, with the whole state where that is small; else with its parts, of which the others stand before it. */
  const appendState = async (tenant: Tenant): Promise<void> => {
    const { covered, pending: events, state } = tenant;
    const at = (payload: Uint8Array) =>
      inTraceOf('record signals', tenant.trace, (trace) => append(tenant, payload, String(covered), trace));
    const whole = tenant.parts === null ? encodeRecord({ v: 1, covered, events, state }) : null;
    if (whole !== null && whole.length <= WHOLE_BYTES) {
      tenant.head = await at(whole);
      return;
    }
    tenant.parts ??= new Map();
    const { parts } = tenant;
    const here = await writeParts(tenant, parts);
    const before = [...parts].filter(([name]) => !(name in here));
    const places = Object.fromEntries(before.map(([name, { sequence }]) => [name, sequence]));
    tenant.head = await at(encodeRecord({ v: 1, covered, events, state: outsideParts(state), parts: places, here }));
    for (const [name, part] of Object.entries(here)) parts.set(name, { ...part, sequence: tenant.head });
  };

  const write = async (tenant: Tenant) => {
    const { covered } = tenant;
    await appendState(tenant);
    tenant.recorded = covered;
    tenant.pending = [];
    tenant.pendingBytes = 0;
    tenant.trace = untraced;
    tenant.owed = false;
    tenant.moved = false;
  };

  /** Writes what is due; where it cannot be written ever, the tenant stands still at its newest message. */
  const writeIfPossible = async (tenant: Tenant) => {
    try {
      await write(tenant);
    } catch (error) {
      if (!(error instanceof Unfoldable) || tenant.newest === null) throw error;
      await poisoned.add(signalsOf(tenant), tenant.newest, error, tenant.recorded + 1);
      tenant.stuck = true;
    }
  };

  const judgeOne = async (message: LogMessage): Promise<Tenant | null> => {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind !== 'trajectory') return null;
    const tenant = tenants.get(meaning.tenant) ?? unrecorded(meaning.tenant);
    tenants.set(meaning.tenant, tenant);
    if (message.sequence <= tenant.covered || poisoned.has(signalsOf(tenant))) return tenant;
    try {
      take(tenant, message, judgeEvent, poisoned.isDropped(message));
    } catch (error) {
      if (!(error instanceof Unfoldable)) throw error;
      await poisoned.add(signalsOf(tenant), message, error);
    }
    return tenant;
  };

  return {
    judge: async (messages) => {
      for (const message of messages) {
        const tenant = await judgeOne(message);
        if (tenant !== null && !tenant.stuck && tenant.pendingBytes >= PENDING_BYTES) await writeIfPossible(tenant);
      }
      const due = [...tenants.values()].filter(({ stuck, pending, owed }) => !stuck && (pending.length > 0 || owed));
      await allWritten(due.map(writeIfPossible));
    },
    snapshot: async () => {
      await allWritten([...tenants.values()].filter(({ stuck, moved }) => !stuck && moved).map(writeIfPossible));
    },
  };
}

const signalsOf = ({ tenant }: Tenant) => ({ tenant, work: null });

/** Judges all events of a message, or none; a dropped one has none. Throws {@link Unfoldable}. */
function take(tenant: Tenant, message: LogMessage, judgeEvent: typeof signal, dropped: boolean): void {
  const { state, judged, awaits } = certainly(() => {
    const record = dropped ? null : readRecord(message);
    let after = tenant.state;
    const events: SignalEvent[] = [];
    for (const event of record?.events ?? []) {
      const step = judgeEvent(after, event, tenant.tenant);
      after = step.state;
      events.push(...step.events);
    }
    return { state: after, judged: events, awaits: record?.awaits ?? true };
  });
  tenant.state = state;
  tenant.pending.push(...judged);
  if (judged.length > 0) tenant.trace = message.headers;
  for (const raised of judged) tenant.pendingBytes += JSON.stringify(raised).length;
  tenant.covered = message.sequence;
  tenant.newest = message;
  tenant.moved = true;
  tenant.owed ||= awaits;
}

function readRecord({ payload }: LogMessage): TrajectoryRecord {
  const record = JSON.parse(Buffer.from(payload).toString('utf8')) as TrajectoryRecord;
  if (record.v !== 1) throw new TypeError(`version ${JSON.stringify(record.v)} of trajectory is not known`);
  if (!Array.isArray(record.events)) throw new TypeError('`events` is not a list');
  return record;
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
  newest: null,
  stuck: false,
});

import {
  encodeRecord,
  parseSubject,
  type SignalEvent,
  type SignalsRecord,
  STREAMS,
  subjects,
  type TrajectoryRecord,
} from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { LogUnavailable } from '@headway/eventlog';
import { initialSignals, type SignalsState, signal } from '@headway/trajectory';
import { Fenced, type TrajectoryLog } from './ports.ts';

/** The signals of one tenant: what is recorded, and what came since. */
interface Tenant {
  readonly tenant: string;
  /** Sequence of the newest signals record; 0 = none yet. */
  sequence: number;
  covered: number;
  state: SignalsState;
  pending: SignalEvent[];
  /** Readers wait for a record, also if it tells of no signal: a reply was judged. */
  owed: boolean;
  /** The state moved since it was recorded. */
  moved: boolean;
}

/**
 * The one that opens and closes signals: reads the assessments of all works of a tenant in the order they were recorded,
 * and records what follows with the state after it.
 */
export interface Signaller {
  judge(messages: readonly LogMessage[]): Promise<void>;
  /** Records the state of every tenant that moved, so that a restart reads little again. */
  snapshot(): Promise<void>;
}

export async function loadSignaller(log: TrajectoryLog): Promise<Signaller> {
  const tenants = new Map<string, Tenant>();
  for await (const batch of log.newestOfEach(STREAMS.record, subjects.allSignals)) {
    for (const message of batch) {
      const meaning = parseSubject(message.subject);
      if (meaning?.kind !== 'signals') continue;
      const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as SignalsRecord;
      tenants.set(meaning.tenant, {
        ...unrecorded(meaning.tenant),
        sequence: message.sequence,
        covered: record.covered,
        state: record.state as SignalsState,
      });
    }
  }

  const write = async (tenant: Tenant) => {
    const { covered, pending: events, state } = tenant;
    const record: SignalsRecord = { v: 1, covered, events, state };
    const subject = subjects.signals(tenant.tenant);
    const answer = await log.append({
      subject,
      payload: encodeRecord(record),
      expectedLastSequence: tenant.sequence,
      messageId: `${subject}.${tenant.sequence}.${covered}`,
    });
    if (answer.outcome === 'conflict') throw new Fenced(`${subject} was written by another process: ${answer.reason}`);
    if (answer.outcome === 'unavailable') throw new LogUnavailable(answer.reason);
    tenant.sequence = answer.position.sequence;
    tenant.pending = [];
    tenant.owed = false;
    tenant.moved = false;
  };

  const judgeOne = (message: LogMessage) => {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind !== 'trajectory') return;
    const tenant = tenants.get(meaning.tenant) ?? unrecorded(meaning.tenant);
    tenants.set(meaning.tenant, tenant);
    if (message.sequence <= tenant.covered) return;
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as TrajectoryRecord;
    for (const event of record.events) {
      const judged = signal(tenant.state, event, tenant.tenant);
      tenant.state = judged.state;
      tenant.pending.push(...judged.events);
    }
    tenant.covered = message.sequence;
    tenant.moved = true;
    tenant.owed ||= record.awaits;
  };

  return {
    judge: async (messages) => {
      for (const message of messages) judgeOne(message);
      const due = [...tenants.values()].filter((tenant) => tenant.pending.length > 0 || tenant.owed);
      await Promise.all(due.map(write));
    },
    snapshot: async () => {
      await Promise.all([...tenants.values()].filter((tenant) => tenant.moved).map(write));
    },
  };
}

const unrecorded = (tenant: string): Tenant => ({
  tenant,
  sequence: 0,
  covered: 0,
  state: initialSignals(),
  pending: [],
  owed: false,
  moved: false,
});

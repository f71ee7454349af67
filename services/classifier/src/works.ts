import { randomUUID } from 'node:crypto';
import {
  encodeRecord,
  PARTITIONS,
  parseSubject,
  partitionOf,
  STREAMS,
  subjects,
  type TrajectoryEvent,
  type TrajectoryRecord,
} from '@headway/contracts';
import { LogUnavailable } from '@headway/eventlog';
import { countsTicks, initialState, type WorkState } from '@headway/trajectory';
import type { Policies } from './policies.ts';
import { Fenced, type TrajectoryLog } from './ports.ts';
import { type Headers, untraced } from './tracing.ts';

/** Works whose folded state is kept in memory; the others are read from the log when evidence of them arrives. */
export const CACHED_WORKS = 20_000;

/**
 * Events of one work that are gathered before they are recorded, in bytes of JSON: so few that also the signals that one
 * record can cause stay well below a message's limit.
 */
export const PENDING_BYTES = 64 * 1024;

/** One work as this process knows it: what is recorded, and what is folded since. */
export interface Work {
  readonly tenant: string;
  readonly work: string;
  readonly partition: number;
  /** Sequence of the newest record; 0 = none yet. */
  sequence: number;
  covered: number;
  within: number;
  answered: number;
  /** A reply of this work is not judged yet. */
  awaits: boolean;
  /** Sequence of the record that tells of the reply; `null` while that is not written. */
  awaitsSince: number | null;
  state: WorkState;
  pending: TrajectoryEvent[];
  pendingBytes: number;
  /** The trace of what was folded last: what the record of it carries on. */
  trace: Headers;
  changed: boolean;
}

/**
 * The works of the owned partitions. What is recorded of them in the log is the truth; this is its cache, valid as long
 * as nobody else writes them. `record` finds out when somebody does, and throws {@link Fenced}.
 */
export interface Works {
  open(tenant: string, work: string): Promise<Work>;
  /** Notes that a work has something to record. */
  changed(work: Work): void;
  /** Works of a partition that change when the monitor ticks at a sequence. */
  waiting(partition: number, sequence: number, policies: Pick<Policies, 'at'>): readonly Waiting[];
  /** Writes one record for each changed work and waits until all are acknowledged. */
  record(): Promise<void>;
  /** As `record`, for one work. */
  recordOne(work: Work): Promise<void>;
  readonly size: number;
}

/** A work in a pause, with what tells whether another tick changes it. */
interface Waiting {
  readonly tenant: string;
  readonly work: string;
  readonly lane: string | null;
  readonly ticks: number;
  readonly recorded: number | null;
}

export async function loadWorks(
  log: TrajectoryLog,
  owns: (partition: number) => boolean,
  cached: number = CACHED_WORKS,
): Promise<Works> {
  /** Every recorded work by its subject: what is not here has no record yet. */
  const known = new Set<string>();
  const loaded = new Map<string, Work>();
  const changed = new Set<Work>();
  // Two owners may fold evidence and acknowledgements in another order: an id of both would make one record stand for two.
  const writer = randomUUID();
  const waiting: Map<string, Waiting>[] = Array.from({ length: PARTITIONS }, () => new Map());

  const noteWaiting = (work: Work) => {
    const subject = subjects.trajectory(work.tenant, work.work);
    const ofPartition = waiting[work.partition];
    const { lane = null, ticks, recorded } = work.state;
    if (countsTicks(work.state))
      ofPartition?.set(subject, { tenant: work.tenant, work: work.work, lane, ticks, recorded });
    else ofPartition?.delete(subject);
  };

  const keep = (subject: string, work: Work) => {
    loaded.delete(subject);
    loaded.set(subject, work);
    if (loaded.size <= cached) return;
    for (const [oldest, candidate] of loaded) {
      if (!candidate.changed && candidate !== work) {
        loaded.delete(oldest);
        return;
      }
    }
  };

  for await (const batch of log.newestOfEach(STREAMS.record, subjects.allTrajectories)) {
    for (const message of batch) {
      const work = workOf(message.subject, message.sequence, message.payload);
      if (work === null || !owns(work.partition)) continue;
      known.add(message.subject);
      noteWaiting(work);
      keep(message.subject, work);
    }
  }

  const write = async (work: Work) => {
    const record: TrajectoryRecord = {
      v: 1,
      covered: work.covered,
      within: work.within,
      answered: work.answered,
      awaits: work.awaits,
      events: work.pending,
      state: work.state,
    };
    const subject = subjects.trajectory(work.tenant, work.work);
    const answer = await log.append({
      subject,
      payload: encodeRecord(record),
      headers: work.trace,
      expectedLastSequence: work.sequence,
      // Equal only for an attempt to write the same record again.
      messageId: `${subject}.${work.sequence}.${work.covered}.${work.within}.${work.answered}.${writer}`,
    });
    if (answer.outcome === 'conflict') throw new Fenced(`${subject} was written by another process: ${answer.reason}`);
    if (answer.outcome === 'unavailable') throw new LogUnavailable(answer.reason);
    work.sequence = answer.position.sequence;
    if (work.awaits) work.awaitsSince ??= work.sequence;
    work.pending = [];
    work.pendingBytes = 0;
    work.trace = untraced;
    work.changed = false;
    changed.delete(work);
    known.add(subject);
  };

  return {
    open: async (tenant, name) => {
      const subject = subjects.trajectory(tenant, name);
      let work = loaded.get(subject);
      if (work === undefined) {
        const message = known.has(subject) ? await log.last(STREAMS.record, subject) : null;
        work =
          (message === null ? null : workOf(message.subject, message.sequence, message.payload)) ??
          unrecorded(tenant, name);
      }
      keep(subject, work);
      return work;
    },
    changed: (work) => {
      work.changed = true;
      changed.add(work);
      // At once, since the next tick may stand in the same batch.
      noteWaiting(work);
    },
    // Also one that was signalled: where the policy has changed since, it is judged anew, whoever reads and whenever.
    waiting: (partition, sequence, policies) =>
      [...(waiting[partition]?.values() ?? [])].filter(({ tenant, lane, ticks, recorded }) => {
        const policy = policies.at(tenant, lane, sequence);
        return ticks < policy.ticksBeforeWake || recorded !== policy.version;
      }),
    record: () => allWritten([...changed].map(write)),
    recordOne: write,
    get size() {
      return known.size;
    },
  };
}

/**
 * Waits for every write, also where one fails: what is folded while a write is under way would be taken for recorded
 * when it is answered. Throws what the first of them threw.
 */
export async function allWritten(writes: readonly Promise<void>[]): Promise<void> {
  for (const written of await Promise.allSettled(writes)) if (written.status === 'rejected') throw written.reason;
}

const unrecorded = (tenant: string, work: string): Work => ({
  tenant,
  work,
  partition: partitionOf(tenant, work),
  sequence: 0,
  covered: 0,
  within: 0,
  answered: 0,
  awaits: false,
  awaitsSince: null,
  state: initialState(),
  pending: [],
  pendingBytes: 0,
  trace: untraced,
  changed: false,
});

/** The work as its newest record tells, or `null` for a subject that is none of a work's. */
function workOf(subject: string, sequence: number, payload: Uint8Array): Work | null {
  const meaning = parseSubject(subject);
  if (meaning?.kind !== 'trajectory') return null;
  const record = JSON.parse(Buffer.from(payload).toString('utf8')) as TrajectoryRecord;
  return {
    ...unrecorded(meaning.tenant, meaning.work),
    sequence,
    covered: record.covered,
    within: record.within,
    answered: record.answered,
    awaits: record.awaits,
    awaitsSince: record.awaits ? sequence : null,
    state: record.state as WorkState,
  };
}

import { formatPosition, type SignalView, type TimelineEntry, type WorkView } from '@headway/contracts';
import type { SignalWithWorks, StandingEntry, WorkRow } from '@headway/readmodel';

/** Rows as the API shows them. */
export function workView(row: WorkRow): WorkView {
  return {
    work: row.work,
    worker: row.worker,
    orchestrator: row.orchestrator,
    lane: row.lane,
    incarnation: row.incarnation,
    phase: row.assessment?.phase ?? (row.worker === null ? 'unclaimed' : 'claimed'),
    class: row.class,
    assessment: row.assessment,
    since: row.since,
    attempts: row.attempts,
    costUsd: row.costUsd,
    openSignal: row.openSignal,
    updatedAt: iso(row.updatedAt),
    change: row.change,
  };
}

export function timelineEntry({
  stream,
  generation,
  sequence,
  recordedAt,
  kind,
  ...rest
}: StandingEntry): TimelineEntry {
  return {
    entry: rest.entry,
    position: formatPosition({ stream, generation, sequence }),
    kind: kind as TimelineEntry['kind'],
    type: rest.type,
    id: rest.id,
    incarnation: rest.incarnation,
    time: rest.time,
    recordedAt: iso(recordedAt),
    data: rest.data,
  };
}

export function signalView(row: SignalWithWorks): SignalView {
  return {
    signal: row.signal,
    kind: row.kind,
    state: row.state,
    works: row.works,
    incarnation: row.incarnation,
    rule: row.rule,
    gate: row.gate,
    signature: row.signature,
    count: row.count,
    reason: row.reason,
    to: row.recipients,
    raisedAt: iso(row.raisedAt),
    closedAt: row.closedAt === null ? null : iso(row.closedAt),
    closing: row.closing,
  };
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

import { type EvidenceEvent, emptyLedger } from '@headway/contracts';
import type { Checkpoint, WorkRow } from '@headway/readmodel';
import { countEvidence } from '@headway/trajectory';

/** Where a fact stands in the log. */
export interface At {
  readonly sequence: number;
  /** Milliseconds since the Unix epoch. */
  readonly recordedAt: number;
}

/** A work of which nothing is known but that it is there. */
export const unknownWork = (tenant: string, work: string): WorkRow => ({
  tenant,
  work,
  worker: null,
  orchestrator: null,
  lane: null,
  base: null,
  incarnation: 0,
  criteria: [],
  checkpoint: null,
  costUsd: null,
  ledger: emptyLedger,
  doneAt: null,
  firstSequence: null,
  lastSequence: null,
  class: 'unknown',
  rule: null,
  assessment: null,
  since: null,
  sinceSequence: null,
  attempts: 0,
  covered: 0,
  coveredBy: 0,
  openSignal: null,
  updatedAt: 0,
  change: 0,
});

/**
 * A work after one more fact about it. A claim without an incarnation starts the next one; other evidence of a higher
 * incarnation opens it, and who works on it is then unknown until the claim. Evidence of an older incarnation changes
 * nothing but what was spent.
 */
export function afterEvidence(row: WorkRow, event: EvidenceEvent, at: At): WorkRow {
  const claim = event.type === 'headway.work.claimed';
  const incarnation = event.incarnation ?? (claim ? row.incarnation + 1 : row.incarnation);
  const counted = { current: incarnation >= row.incarnation, opens: incarnation > row.incarnation };
  const seen: WorkRow = {
    ...row,
    ledger: countEvidence(row.ledger, event, counted),
    firstSequence: row.firstSequence ?? at.sequence,
    lastSequence: Math.max(row.lastSequence ?? 0, at.sequence),
    updatedAt: Math.max(row.updatedAt, at.recordedAt),
    costUsd: plus(row.costUsd, costOf(event)),
  };
  if (incarnation < row.incarnation) return seen;
  const current: WorkRow =
    incarnation > row.incarnation ? { ...seen, incarnation, worker: null, orchestrator: null, checkpoint: null } : seen;
  if (event.type === 'headway.work.claimed') {
    const { worker, orchestrator, lane, base, criteria } = event.data;
    return {
      ...current,
      worker,
      orchestrator: orchestrator ?? null,
      lane: lane ?? current.lane,
      base: base ?? current.base,
      criteria: criteria ?? current.criteria,
    };
  }
  if (event.type === 'headway.checkpoint.recorded') return { ...current, checkpoint: checkpointOf(event, at) };
  return current;
}

function checkpointOf(
  { data, time }: Extract<EvidenceEvent, { type: 'headway.checkpoint.recorded' }>,
  { sequence }: At,
): Checkpoint {
  return { by: data.by, note: data.note ?? null, sequence, time: time ?? null };
}

/** The measured cost of a usage report; `null` where it was not measured, which is never 0. */
function costOf(event: EvidenceEvent): number | null {
  if (event.type !== 'headway.usage.recorded') return null;
  return typeof event.data.costUsd === 'number' ? event.data.costUsd : null;
}

const plus = (sum: number | null, more: number | null) => (more === null ? sum : (sum ?? 0) + more);

import type { Assessment, SignalEvent, TrajectoryEvent } from '@headway/contracts';
import type { SignalAcknowledged } from '../evolve.ts';
import { ACKNOWLEDGED } from '../judge.ts';
import { settleOwn, withdrawOwn } from './own-signals.ts';
import { answer } from './replies.ts';
import { settleMemberships } from './shared-failures.ts';
import { type SignalsState, Step, type Wish, type WorkEntry, wishOf } from './state.ts';

/**
 * Takes one recorded event of any work of the tenant, in the order of the record, and tells which signals it raises and
 * closes. Pure; alone it decides what is open.
 */
export function signal(
  state: SignalsState,
  event: TrajectoryEvent,
  tenant: string,
): { state: SignalsState; events: SignalEvent[] } {
  const step = new Step(state, tenant, event.id);
  if (event.type === 'headway.signal.replied') answer(step, event.work, event.data);
  else takeAssessment(step, event.work, event.data, event.cause.source === ACKNOWLEDGED ? event.cause.id : null);
  return { state: step.state, events: step.events };
}

function takeAssessment(step: Step, work: string, assessment: Assessment, acknowledged: string | null): void {
  const before = step.work(work);
  if (before !== undefined && assessment.incarnation < before.incarnation) return;
  const later = before !== undefined && assessment.incarnation > before.incarnation;
  if (later) {
    withdrawOwn(step, work, 'The work is in a new incarnation.');
    settleMemberships(step, work, []);
  }
  const entry = entryOf(later ? undefined : step.work(work), assessment, acknowledged);
  if (before === undefined && isIdle(entry, assessment)) return;
  if (before === undefined || later || !sameEntry(before, entry)) step.putWork(work, entry);
  if (!assessment.active) withdrawOwn(step, work, `The work is ${assessment.phase}.`);
  settleMemberships(step, work, assessment.active ? assessment.failing : []);
  if (assessment.active) settleOwn(step, work, assessment);
  forgetIdle(step, work, assessment);
}

/** The entry with what the assessment says, its memberships as they were before. */
function entryOf(before: WorkEntry | undefined, assessment: Assessment, acknowledged: string | null): WorkEntry {
  const { incarnation, worker, orchestrator } = assessment;
  const answered = before?.answered ?? null;
  return {
    incarnation,
    worker,
    orchestrator,
    raised: before?.raised ?? 0,
    open: before?.open ?? null,
    wish: wishOf(assessment),
    answered: answered !== null && answered === acknowledged ? null : answered,
    failing: before?.failing ?? [],
  };
}

const isIdle = (entry: WorkEntry, { active, failing }: Assessment): boolean =>
  entry.wish === null && (!active || failing.length === 0);

/** Whether an assessment of the same incarnation left the entry as it was: these are the members that it may change. */
const sameEntry = (one: WorkEntry, other: WorkEntry): boolean =>
  one.worker === other.worker &&
  one.orchestrator === other.orchestrator &&
  one.answered === other.answered &&
  sameWish(one.wish, other.wish);

function sameWish(one: Wish | null, other: Wish | null): boolean {
  if (one === null || other === null) return one === other;
  for (const member of Object.keys(one) as (keyof Wish)[]) if (one[member] !== other[member]) return false;
  return true;
}

/**
 * A work that is done or released raises nothing more in this incarnation, and one that never raised anything has no
 * ordinal to go on from: nothing of them has to be kept.
 */
function forgetIdle(step: Step, work: string, assessment: Assessment): void {
  const entry = step.work(work);
  if (entry === undefined) return;
  const { phase } = assessment;
  const ended = phase === 'done' || phase === 'done-claimed' || phase === 'released';
  if (ended || (isIdle(entry, assessment) && entry.raised === 0 && entry.open === null && entry.answered === null))
    step.putWork(work, undefined);
}

/** The acknowledgements that these events bring, each to be folded by its work. */
export function acknowledgementsOf(events: readonly SignalEvent[]): { work: string; fact: SignalAcknowledged }[] {
  return events.flatMap((event) => {
    if (event.type !== 'headway.signal.acknowledged') return [];
    const { signal: id, works, incarnations } = event.data;
    return works.map((work, index) => ({
      work,
      fact: { type: ACKNOWLEDGED, signal: id, incarnation: incarnations[index] ?? 0 },
    }));
  });
}

import type { Assessment, EventRef, EvidenceEvent, Policy, TrajectoryEvent } from '@headway/contracts';
import { digest } from '@headway/kernel';
import { assess } from './assess.ts';
import { evolve, type Fact } from './evolve.ts';
import { shownName } from './names.ts';
import { remembered, type WorkState } from './state.ts';

/** The `source` of events that an acknowledged signal caused; their `id` is the signal's. */
export const ACKNOWLEDGED = 'headway.signal.acknowledged';

/** Whose fold it is: both are part of the ids of what is recorded. */
export interface WorkContext {
  readonly tenant: string;
  readonly work: string;
}

/**
 * Folds one fact and tells what is to be recorded about the work: an assessment wherever it is not the one recorded last,
 * always for an acknowledgement that counts, and every reply that might acknowledge a signal. The ids of these events
 * are the same whenever the same fact is judged. `policyFor` tells the policy that holds for a lane at this fact: another
 * version than that of the assessment before makes a new one.
 */
export function judgeEvidence(
  state: WorkState,
  fact: Fact,
  context: WorkContext,
  policyFor: (lane: string | null) => Policy,
): { state: WorkState; events: TrajectoryEvent[] } {
  const before = policyFor(state.lane ?? null);
  const next = evolve(state, fact, before);
  const policy = next.lane === state.lane ? before : policyFor(next.lane ?? null);
  const events: TrajectoryEvent[] = [];
  let recorded = next;
  const changed = next !== state || (next.seen && next.recorded !== policy.version);
  if (changed) {
    const data = assess(next, policy);
    const known = state.recorded === policy.version && fact.type !== ACKNOWLEDGED;
    // Every attempt changes the number of attempts: only for other facts the assessment before has to be made again.
    if (!known || next.attempts !== state.attempts || !sameAssessment(data, assess(state, policy))) {
      events.push(recordOf(context, fact, 'headway.work.assessed', data));
      if (next.recorded !== policy.version) recorded = { ...next, recorded: policy.version };
    }
  }
  if (fact.type === 'headway.signal.sent' && (fact.incarnation ?? next.incarnation) === next.incarnation) {
    const { inReplyTo, thread, intent, from } = fact.data;
    if ((intent === 'AGREE' || intent === 'REJECT') && inReplyTo && inReplyTo === thread)
      events.push(
        recordOf(context, fact, 'headway.signal.replied', {
          inReplyTo,
          intent,
          from: shownName(from, remembered.workerName),
        }),
      );
  }
  return { state: recorded, events };
}

function recordOf<Type extends TrajectoryEvent['type']>(
  { tenant, work }: WorkContext,
  fact: Fact,
  type: Type,
  data: Extract<TrajectoryEvent, { type: Type }>['data'],
): TrajectoryEvent {
  const cause = causeOf(fact);
  const id = digest('trajectory', tenant, work, cause.source, cause.id, type);
  return { type, id, work, cause, data } as TrajectoryEvent;
}

function causeOf(fact: Fact): EventRef {
  if (fact.type === ACKNOWLEDGED) return { source: ACKNOWLEDGED, id: fact.signal };
  const { source, id } = fact as Partial<EvidenceEvent>;
  return { source: source ?? '', id: id ?? '' };
}

/** Whether two assessments say the same, member by member. */
export function sameAssessment(one: Assessment, other: Assessment): boolean {
  for (const member of Object.keys(one) as (keyof Assessment)[]) {
    const value = one[member];
    const against = other[member];
    if (value === against) continue;
    if (value === null || against === null || typeof value !== 'object' || typeof against !== 'object') return false;
    if (JSON.stringify(value) !== JSON.stringify(against)) return false;
  }
  return true;
}

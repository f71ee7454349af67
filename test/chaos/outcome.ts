import { type EventsAnswer, type EvidenceCommit, parsePosition, parseSubject } from '@headway/contracts';
import type { ReadModel } from '@headway/readmodel';
import type { apiOf } from '../harness/api.ts';
import type { FleetPlan } from '../harness/fleet-plan.ts';

/** What became of every event that a client was told is taken. */
export interface Outcome {
  readonly acknowledged: number;
  readonly archived: number;
  readonly projected: number;
  readonly doubled: number;
  /** Lost, and no gap names it. */
  readonly lost: number;
  /** Lost within a gap that the restore has named. */
  readonly named: number;
}

/** Notes the events of an answer, with where each stands; `null` = it was known before. */
export function noteAcknowledged(acknowledged: Map<string, number | null>, answer: EventsAnswer): void {
  for (const event of answer.events) {
    if (event.verdict === 'refused' || acknowledged.has(event.id)) continue;
    acknowledged.set(event.id, event.position === null ? null : (parsePosition(event.position)?.sequence ?? null));
  }
}

export async function outcomeOf(parts: {
  readonly model: ReadModel;
  readonly api: ReturnType<typeof apiOf>;
  readonly plan: FleetPlan;
  readonly acknowledged: ReadonlyMap<string, number | null>;
}): Promise<Outcome> {
  const { model, api, plan, acknowledged } = parts;
  const archived = new Map<string, number>();
  for await (const message of model.readArchive('EVIDENCE')) {
    if (parseSubject(message.subject)?.kind !== 'evidence') continue;
    const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
    for (const { id } of commit.events) archived.set(id, (archived.get(id) ?? 0) + 1);
  }
  const projected = new Map<string, number>();
  for (const work of plan.ofWork.keys())
    for (const entry of await api.timeline(work))
      if (entry.kind === 'evidence') projected.set(entry.id, (projected.get(entry.id) ?? 0) + 1);
  const gaps = await model.bus.gaps('EVIDENCE');
  const missing = [...acknowledged].filter(([id]) => !projected.has(id) || !archived.has(id));
  const named = missing.filter(
    ([, sequence]) => sequence !== null && gaps.some(({ first, last }) => first <= sequence && sequence <= last),
  );
  const extra = (counts: ReadonlyMap<string, number>) => [...counts.values()].filter((count) => count > 1).length;
  return {
    acknowledged: acknowledged.size,
    archived: archived.size,
    projected: projected.size,
    doubled: extra(archived) + extra(projected),
    lost: missing.length - named.length,
    named: named.length,
  };
}

export const outcomeText = (title: string, version: string, outcome: Outcome): string =>
  `${title} (nats-server ${version}): acknowledged ${outcome.acknowledged}, archived ${outcome.archived}, projected ${outcome.projected}, ` +
  `doubled ${outcome.doubled}, lost ${outcome.lost}, in a named gap ${outcome.named}`;

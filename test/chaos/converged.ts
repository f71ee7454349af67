import { type Assessment, type EvidenceCommit, parseSubject, type TrajectoryRecord } from '@headway/contracts';
import type { ReadModel } from '@headway/readmodel';
import { type Classification, createClassification } from '@headway/trajectory';
import { expect } from 'vitest';
import type { apiOf } from '../harness/api.ts';
import type { FleetPlan } from '../harness/fleet-plan.ts';

const TENANT = 'default';

/** Each event that was answered stands in its work's timeline exactly once, in the order it was sent. */
export async function expectTimelines(api: ReturnType<typeof apiOf>, plan: FleetPlan) {
  for (const [work, sent] of plan.ofWork) {
    const evidence = (await api.timeline(work)).filter((entry) => entry.kind === 'evidence');
    expect(evidence.map((entry) => entry.id)).toEqual(sent.map((event) => event.id));
  }
}

/** What the rules say of the archived log, without any service; and that the archive has each event once. */
export async function classifyArchive(model: ReadModel, events: number): Promise<Classification> {
  const offline = createClassification({ tenant: TENANT });
  let found = 0;
  for await (const message of model.readArchive('EVIDENCE')) {
    if (parseSubject(message.subject)?.kind !== 'evidence') continue;
    const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
    for (const event of commit.events) {
      found += 1;
      expect(offline.push(event).kind).toBe('accepted');
    }
  }
  expect(found).toBe(events);
  return offline;
}

/** The views and the record say of each work what the offline classification says; no assessment is recorded twice. */
export async function expectAssessments(
  model: ReadModel,
  api: ReturnType<typeof apiOf>,
  works: Iterable<string>,
  offline: Classification,
) {
  const newest = new Map<string, Assessment>();
  const ids: string[] = [];
  for await (const message of model.readArchive('RECORD')) {
    const meaning = parseSubject(message.subject);
    if (meaning?.kind !== 'trajectory') continue;
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as TrajectoryRecord;
    for (const event of record.events) {
      if (event.type !== 'headway.work.assessed') continue;
      ids.push(event.id);
      newest.set(meaning.work, event.data);
    }
  }
  expect(new Set(ids).size).toBe(ids.length);
  for (const work of works) {
    expect(newest.get(work)).toEqual(offline.assessment(work));
    expect((await api.work(work, null)).assessment).toEqual(offline.assessment(work));
  }
}

export function chunksOf<Value>(values: readonly Value[], size: number): Value[][] {
  const chunks: Value[][] = [];
  for (let at = 0; at < values.length; at += size) chunks.push(values.slice(at, at + size));
  return chunks;
}

export function laterOf(one: string | null, other: string | null): string | null {
  const sequence = (position: string | null) => Number(position?.split(':')[2] ?? 0);
  return sequence(other) > sequence(one) ? other : one;
}

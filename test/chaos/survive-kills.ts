import { type Assessment, type EvidenceCommit, parseSubject, type TrajectoryRecord } from '@headway/contracts';
import { openReadModel, type ReadModel } from '@headway/readmodel';
import { eventually } from '@headway/testkit';
import { type Classification, createClassification } from '@headway/trajectory';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { type FleetPlan, planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { type Services, serviceNames, startServices } from '../harness/services.ts';

/** Works in one request. */
const BATCH = 100;
const TENANT = 'default';

/** What is killed, and where it runs. */
export interface Deployment<Part extends string> {
  readonly services: Pick<Services, 'postgresUrl' | 'token' | 'url'>;
  kill(part: Part): Promise<void>;
  start(part: Part): Promise<void>;
  stop(): Promise<void>;
}

async function ownProcesses(): Promise<Deployment<(typeof serviceNames)[number]>> {
  const services = await startServices();
  return { services, kill: services.kill, start: services.start, stop: services.stop };
}

/** Kills of the services as processes of this machine. */
export const describeKills = (size: FleetSize): void => describeKillsOf(serviceNames, ownProcesses, size);

export interface FleetSize {
  readonly works: number;
  readonly rounds: number;
}

/**
 * A fleet reports, one event of each work a round, while each part is killed once in the middle of a round. At the end
 * every answered event stands in its timeline once, and the services say of each work what the rules say of the archive.
 */
export function describeKillsOf<Part extends string>(
  parts: readonly Part[],
  begin: () => Promise<Deployment<Part>>,
  size: FleetSize,
): void {
  let deployment: Deployment<Part>;
  let model: ReadModel;
  beforeAll(async () => {
    deployment = await begin();
    model = openReadModel({ url: deployment.services.postgresUrl, connections: 2, name: 'chaos' });
  });
  afterAll(async () => {
    await model?.close();
    await deployment?.stop();
  });

  const events = size.works * size.rounds;
  it(`loses and doubles nothing of ${events} events while each of ${parts.join(', ')} is killed once`, {
    timeout: 900_000,
  }, async () => {
    const api = apiOf(deployment.services);
    const plan = planFleet({ ...size, seed: 11 });
    const kills = new Map(
      parts.map((name, index) => [Math.floor((size.rounds * (index + 1)) / (parts.length + 1)), name]),
    );
    let position: string | null = null;
    for (const [number, round] of plan.rounds.entries()) {
      const batches = chunksOf(round, BATCH).map((batch) => postUntilAnswered(api, batch));
      const victim = kills.get(number);
      if (victim !== undefined) {
        await deployment.kill(victim);
        await deployment.start(victim);
      }
      for (const answer of await Promise.all(batches)) position = laterOf(position, answer.position);
    }

    // A view that covers the last position covers every assessment before it.
    await eventually(() => api.works(position), { within: 120_000, what: 'the view of the last event' });
    await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    await expectTimelines(api, plan);
    await expectAssessments(api, model, plan, await classifyArchive(model, plan));
    process.stdout.write(`${events} events: all answered, archived and in their timelines once; lost 0, doubled 0\n`);
  });
}

/** Each event that was answered stands in its work's timeline exactly once, in the order it was sent. */
async function expectTimelines(api: ReturnType<typeof apiOf>, plan: FleetPlan) {
  for (const [work, sent] of plan.ofWork) {
    const evidence = (await api.timeline(work)).filter((entry) => entry.kind === 'evidence');
    expect(evidence.map((entry) => entry.id)).toEqual(sent.map((event) => event.id));
  }
}

/** What the rules say of the archived log, without any service; and that the archive has each event once. */
async function classifyArchive(model: ReadModel, plan: FleetPlan): Promise<Classification> {
  const offline = createClassification({ tenant: TENANT });
  let events = 0;
  for await (const message of model.readArchive('EVIDENCE')) {
    if (parseSubject(message.subject)?.kind !== 'evidence') continue;
    const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
    for (const event of commit.events) {
      events += 1;
      expect(offline.push(event).kind).toBe('accepted');
    }
  }
  expect(events).toBe(plan.rounds.length * plan.ofWork.size);
  return offline;
}

/** The views and the record say of each work what the offline classification says; no assessment is recorded twice. */
async function expectAssessments(
  api: ReturnType<typeof apiOf>,
  model: ReadModel,
  plan: FleetPlan,
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
  for (const work of plan.ofWork.keys()) {
    expect(newest.get(work)).toEqual(offline.assessment(work));
    expect((await api.work(work, null)).assessment).toEqual(offline.assessment(work));
  }
}

function chunksOf<Value>(values: readonly Value[], size: number): Value[][] {
  const chunks: Value[][] = [];
  for (let at = 0; at < values.length; at += size) chunks.push(values.slice(at, at + size));
  return chunks;
}

function laterOf(one: string | null, other: string | null): string | null {
  const sequence = (position: string | null) => Number(position?.split(':')[2] ?? 0);
  return sequence(other) > sequence(one) ? other : one;
}

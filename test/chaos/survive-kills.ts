import { openReadModel, type ReadModel } from '@headway/readmodel';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { type Services, serviceNames, startServices } from '../harness/services.ts';
import { chunksOf, classifyArchive, expectAssessments, expectTimelines, laterOf } from './converged.ts';

/** Works in one request. */
const BATCH = 100;

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
    await expectAssessments(model, api, plan.ofWork.keys(), await classifyArchive(model, events));
    process.stdout.write(`${events} events: all answered, archived and in their timelines once; lost 0, doubled 0\n`);
  });
}

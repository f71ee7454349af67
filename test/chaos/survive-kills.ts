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

let services: Services;
let model: ReadModel;
beforeAll(async () => {
  services = await startServices();
  model = openReadModel({ url: services.postgresUrl, connections: 2, name: 'chaos' });
});
afterAll(async () => {
  await model?.close();
  await services?.stop();
});

/**
 * A fleet reports, one event of each work a round, while each service is killed once in the middle of a round. At the end
 * every answered event stands in its timeline once, and the services say of each work what the rules say of the archive.
 */
export function describeKills(size: { readonly works: number; readonly rounds: number }): void {
  const events = size.works * size.rounds;
  it(`loses and doubles nothing of ${events} events while each service is killed once`, {
    timeout: 900_000,
  }, async () => {
    const api = apiOf(services);
    const plan = planFleet({ ...size, seed: 11 });
    const kills = new Map(serviceNames.map((name, index) => [Math.floor((size.rounds * (index + 1)) / 4), name]));
    let position: string | null = null;
    for (const [number, round] of plan.rounds.entries()) {
      const batches = chunksOf(round, BATCH).map((batch) => postUntilAnswered(api, batch));
      const victim = kills.get(number);
      if (victim !== undefined) {
        await services.kill(victim);
        await services.start(victim);
      }
      for (const answer of await Promise.all(batches)) position = laterOf(position, answer.position);
    }

    // A view that covers the last position covers every assessment before it.
    await eventually(() => api.works(position), { within: 120_000, what: 'the view of the last event' });
    await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    await expectTimelines(api, plan);
    await expectAssessments(model, api, plan.ofWork.keys(), await classifyArchive(model, events));
  });
}

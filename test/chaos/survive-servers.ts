import { setTimeout as delay } from 'node:timers/promises';
import { openReadModel, type ReadModel } from '@headway/readmodel';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { type Services, startServices } from '../harness/services.ts';
import { chunksOf, classifyArchive, expectAssessments, expectTimelines, laterOf } from './converged.ts';
import { noteAcknowledged, outcomeOf, outcomeText } from './outcome.ts';

/** Events in one request, by replica of ingest: the same events come in different groupings. */
const GROUPS = [40, 70];
/** How long a server stays away. Milliseconds. */
const AWAY = 1_000;

let services: Services;
let model: ReadModel;
beforeAll(async () => {
  services = await startServices({}, { own: true });
  await services.start('ingest-2');
  model = openReadModel({ url: services.postgresUrl, connections: 2, name: 'chaos' });
});
afterAll(async () => {
  await model?.close();
  await services?.stop();
});

/**
 * A fleet reports every event to two replicas of ingest at once, grouped in two ways, while the log's server and the
 * store are killed in the middle of it. At the end each event stands once.
 */
export function describeServerKills(size: { readonly works: number; readonly rounds: number }): void {
  const events = size.works * size.rounds;
  it(`loses and doubles nothing of ${events} events, told to two replicas, while nats-server and Postgres are killed`, {
    timeout: 1_800_000,
  }, async () => {
    const plan = planFleet({ ...size, seed: 23 });
    const replicas = [apiOf(services, 'default', 'ingest'), apiOf(services, 'default', 'ingest-2')] as const;
    const [api] = replicas;
    const acknowledged = new Map<string, number | null>();
    let position: string | null = null;
    const kills = new Map<number, { kill9(): Promise<void>; restart(): Promise<void> }>([
      [Math.floor(size.rounds / 3), services.nats],
      [Math.floor((size.rounds * 2) / 3), services.postgres],
    ]);
    for (const [number, round] of plan.rounds.entries()) {
      const posts = replicas.flatMap((replica, index) =>
        chunksOf(round, GROUPS[index] as number).map((batch) => postUntilAnswered(replica, batch)),
      );
      const victim = kills.get(number);
      if (victim !== undefined) {
        await victim.kill9();
        await delay(AWAY);
        await victim.restart();
      }
      for (const answer of await Promise.all(posts)) {
        noteAcknowledged(acknowledged, answer);
        position = laterOf(position, answer.position);
      }
    }
    await eventually(() => api.works(position), { within: 180_000, what: 'the view of the last event' });
    await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    const outcome = await outcomeOf({ model, api, plan, acknowledged });
    console.log(outcomeText('nats-server and Postgres killed, two replicas of ingest', services.nats.version, outcome));
    expect(outcome).toEqual({
      acknowledged: events,
      archived: events,
      projected: events,
      doubled: 0,
      lost: 0,
      named: 0,
    });
    await expectTimelines(api, plan);
    await expectAssessments(model, api, plan.ofWork.keys(), await classifyArchive(model, events));
  });
}

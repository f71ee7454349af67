import { openReadModel, type ReadModel } from '@headway/readmodel';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { type Services, startServices } from '../harness/services.ts';
import { chunksOf, classifyArchive, expectAssessments, expectTimelines, laterOf } from './converged.ts';

/** Works in one request. */
const BATCH = 100;
const PARTITIONS = 64;

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

/** The value of a metric without labels, or the sum over its labels. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (lines.length === 0) throw new Error(`${url} does not tell ${name}:\n${text}`);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/**
 * Two classifiers and two projections share the load; one of each is stopped, longer than a lease lasts, and goes on.
 * Nothing is doubled, nothing stale is written, and what was refused is counted.
 */
export function describePause(size: {
  readonly works: number;
  readonly rounds: number;
  /** How long the processes stand still at least; at any rate until the others have taken over. */
  readonly pauseSeconds: number;
}): void {
  it('survives that one of two classifiers and one of two projections stand still and go on', {
    timeout: 900_000,
  }, async () => {
    const api = apiOf(services);
    await Promise.all([services.start('classifier-2'), services.start('projection-2')]);
    const classifier = services.url('classifier-2');
    const projection = services.url('projection-2');
    const owned = (url: string) => metric(url, 'headway_owned_partitions');
    await eventually(async () => (await owned(classifier)) === PARTITIONS / 2, { within: 60_000 });
    const plan = planFleet({ ...size, seed: 12 });
    const third = Math.floor(size.rounds / 3);
    let position: string | null = null;
    const report = async (from: number, to: number) => {
      for (const round of plan.rounds.slice(from, to))
        for (const batch of chunksOf(round, BATCH))
          position = laterOf(position, (await postUntilAnswered(api, batch)).position);
    };

    await report(0, third);
    await eventually(() => api.works(position), { within: 120_000, what: 'the view before the pause' });
    const stopped = performance.now();
    services.pause('classifier-2');
    services.pause('projection-2');
    // What comes now waits in the buffers of the two that stand still: they will act on it when they go on.
    await report(third, 2 * third);
    await eventually(async () => (await owned(services.url('classifier'))) === PARTITIONS, {
      within: 120_000,
      what: 'the other classifier to take over',
    });
    await eventually(() => api.works(position), { within: 120_000, what: 'the view during the pause' });
    await eventually(() => performance.now() - stopped >= size.pauseSeconds * 1_000, {
      within: size.pauseSeconds * 1_000 + 60_000,
    });
    services.goOn('classifier-2');
    services.goOn('projection-2');

    await report(2 * third, size.rounds);
    await eventually(() => api.works(position), { within: 120_000, what: 'the view of the last event' });
    await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    await eventually(async () => (await metric(classifier, 'headway_fenced_writes_total')) > 0, { within: 60_000 });
    await eventually(async () => (await metric(projection, 'headway_fenced_writes_total')) > 0, { within: 60_000 });
    await eventually(async () => (await owned(classifier)) === PARTITIONS / 2, { within: 120_000 });
    await expectTimelines(api, plan);
    const offline = await classifyArchive(model, size.works * size.rounds);
    await expectAssessments(model, api, plan.ofWork.keys(), offline);
    expect(await metric(services.url('projection'), 'headway_gap_missing_messages')).toBe(0);
    console.log(
      JSON.stringify({
        events: size.works * size.rounds,
        pausedSeconds: Math.round((performance.now() - stopped) / 1_000),
        fencedByClassifier: await metric(classifier, 'headway_fenced_writes_total'),
        fencedByProjection: await metric(projection, 'headway_fenced_writes_total'),
      }),
    );
  });
}

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
  /**
   * How long the processes stand still at least, each time; at any rate until the others have taken over. The last one is
   * to be short: after a minute a process finds its subscription silent, throws away what waited there and reads anew, so
   * that it may not even try to write what is stale.
   */
  readonly pauseSeconds: readonly number[];
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
    const part = Math.floor(size.rounds / (2 * size.pauseSeconds.length + 1));
    let reported = 0;
    let position: string | null = null;
    const report = async (rounds: number) => {
      for (const round of plan.rounds.slice(reported, reported + rounds))
        for (const batch of chunksOf(round, BATCH))
          position = laterOf(position, (await postUntilAnswered(api, batch)).position);
      reported += rounds;
    };
    const standStill = async (seconds: number) => {
      const stopped = performance.now();
      services.pause('classifier-2');
      services.pause('projection-2');
      // What comes now waits in the buffers of the two that stand still: they will act on it when they go on.
      await report(part);
      await eventually(async () => (await owned(services.url('classifier'))) === PARTITIONS, {
        within: 120_000,
        what: 'the other classifier to take over',
      });
      await eventually(() => api.works(position), { within: 120_000, what: 'the view during the pause' });
      await eventually(() => performance.now() - stopped >= seconds * 1_000, { within: seconds * 1_000 + 60_000 });
      services.goOn('classifier-2');
      services.goOn('projection-2');
      return Math.round((performance.now() - stopped) / 1_000);
    };

    const paused: number[] = [];
    for (const seconds of size.pauseSeconds) {
      await report(part);
      await eventually(() => api.works(position), { within: 120_000, what: 'the view before the pause' });
      paused.push(await standStill(seconds));
      // As the other one says: the one that stood still may not know yet that it lost its share.
      await eventually(async () => (await owned(services.url('classifier'))) === PARTITIONS / 2, {
        within: 120_000,
        what: 'the classifier that goes on to have its share again',
      });
    }
    await report(size.rounds - reported);
    await eventually(() => api.works(position), { within: 120_000, what: 'the view of the last event' });
    await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    await eventually(async () => (await metric(classifier, 'headway_fenced_writes_total')) > 0, {
      within: 60_000,
      what: 'the fenced write of the classifier in its count',
    });
    await eventually(async () => (await metric(projection, 'headway_fenced_writes_total')) > 0, {
      within: 60_000,
      what: 'the fenced write of the projection in its count',
    });
    await expectTimelines(api, plan);
    const offline = await classifyArchive(model, size.works * size.rounds);
    await expectAssessments(model, api, plan.ofWork.keys(), offline);
    expect(await metric(services.url('projection'), 'headway_gap_missing_messages')).toBe(0);
    console.log(
      JSON.stringify({
        events: size.works * size.rounds,
        pausedSeconds: paused,
        fencedByClassifier: await metric(classifier, 'headway_fenced_writes_total'),
        fencedByProjection: await metric(projection, 'headway_fenced_writes_total'),
      }),
    );
  });
}

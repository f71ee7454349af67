import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openReadModel, type ReadModel, type RestoredStream } from '@headway/readmodel';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { repositoryRoot, type Services, startServices } from '../harness/services.ts';
import { chunksOf, classifyArchive, expectAssessments, laterOf } from './converged.ts';
import { noteAcknowledged, outcomeOf, outcomeText } from './outcome.ts';

const BATCH = 50;
/** How long clients go on sending while an operator puts the bus back. Milliseconds. */
const CLIENT_PATIENCE = 240_000;

let services: Services;
let model: ReadModel;
let copy: string;
beforeAll(async () => {
  services = await startServices({}, { own: true });
  model = openReadModel({ url: services.postgresUrl, connections: 2, name: 'chaos' });
  copy = await mkdtemp(join(tmpdir(), 'headway-older-copy-'));
});
afterAll(async () => {
  await model?.close();
  await services?.stop();
  await rm(copy, { recursive: true, force: true });
});

const store = () => join(services.nats.dataDir as string, 'store');

/** Runs `headway bus restore` as an operator does. */
async function headwayBusRestore(...more: string[]) {
  const program = join(repositoryRoot, 'packages/faces/cli/src/main.ts');
  const env = { ...process.env, HEADWAY_NATS_URL: services.natsUrl, HEADWAY_POSTGRES_URL: services.postgresUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'bus', 'restore', '--json', ...more], {
    env,
  });
  return JSON.parse(stdout) as { dryRun: boolean; streams: RestoredStream[] };
}

/** Why ingest takes nothing; `null` where it takes events. */
async function refusal(): Promise<string | null> {
  const answer = await fetch(`${services.url('ingest')}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${services.token}`, 'content-type': 'application/x-ndjson' },
    body: '',
  });
  return answer.status === 503 ? ((await answer.json()) as { code: string }).code : null;
}

/**
 * While a fleet reports, the folder of the log's server is replaced by an older copy. Writers notice, an operator puts
 * the log back, and what was acknowledged is there once, or named.
 */
export function describeOlderCopy(size: { readonly works: number; readonly rounds: number }): void {
  const events = size.works * size.rounds;
  it(`puts the log back after an older copy came up in the middle of ${events} events`, {
    timeout: 1_800_000,
  }, async () => {
    const api = apiOf(services);
    const plan = planFleet({ ...size, seed: 37 });
    const acknowledged = new Map<string, number | null>();
    let position: string | null = null;
    const [copyAt, loseAt] = [Math.floor(size.rounds / 4), Math.floor(size.rounds / 2)];
    let restored: RestoredStream[] = [];
    for (const [number, round] of plan.rounds.entries()) {
      if (number === loseAt - 1) {
        // So the archive has what the copy lacks, and what is acknowledged from here on is in neither.
        await eventually(() => api.works(position), { within: 60_000, what: 'the archive being ahead of the copy' });
        await services.kill('projection');
      }
      const posts = chunksOf(round, BATCH).map(async (batch) => {
        const answer = await postUntilAnswered(api, batch, CLIENT_PATIENCE);
        noteAcknowledged(acknowledged, answer);
        position = laterOf(position, answer.position);
      });
      if (number === copyAt) {
        await services.nats.kill9();
        await cp(store(), copy, { recursive: true });
        await services.nats.restart();
      }
      if (number === loseAt) {
        await services.nats.kill9();
        await rm(store(), { recursive: true });
        await cp(copy, store(), { recursive: true });
        await services.nats.restart();
        await eventually(async () => (await refusal()) === 'log_lost_tail', {
          within: 60_000,
          what: 'ingest noticing',
        });
        await eventually(async () => (await fetch(`${services.url('classifier')}/readyz`)).status === 503, {
          within: 60_000,
          what: 'the classifier noticing',
        });
        expect((await headwayBusRestore()).dryRun).toBe(true);
        expect(await refusal()).toBe('log_lost_tail');
        restored = (await headwayBusRestore('--yes')).streams;
        await services.start('projection');
      }
      await Promise.all(posts);
    }
    const tail = restored.filter(({ found }) => found === 'tail').map(({ stream }) => stream);
    expect(tail.toSorted()).toEqual(['EVIDENCE', 'RECORD']);
    for (const { published } of restored) expect(published).toBeGreaterThan(0);
    await eventually(() => api.works(position), { within: 180_000, what: 'the view of the last event' });
    const signals = await eventually(() => api.signals(position), { within: 60_000, what: 'the signals' });
    const outcome = await outcomeOf({ model, api, plan, acknowledged });
    console.log(outcomeText('the log set back to an older copy', services.nats.version, outcome));
    console.log(
      restored
        .map(
          ({ stream, endedAt, archived, published, gap }) =>
            `${stream}: ended at ${endedAt}, archived ${archived}, ${published} put back, gap ${gap === null ? 'none' : `${gap.first} to ${gap.last}`}`,
        )
        .join('\n'),
    );
    expect(outcome).toMatchObject({ acknowledged: events, doubled: 0, lost: 0 });
    expect(outcome.named).toBeGreaterThan(0);
    expect(outcome.archived + outcome.named).toBe(events);
    expect(outcome.projected).toBe(outcome.archived);
    const offline = await classifyArchive(model, outcome.archived);
    await expectAssessments(model, api, plan.ofWork.keys(), offline);
    const causes = signals.filter(({ state }) => state === 'open').map(({ kind, works }) => `${kind} ${works?.join()}`);
    expect(new Set(causes).size).toBe(causes.length);
  });
}

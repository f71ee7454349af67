import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProjectionView } from '@headway/contracts';
import { eventually } from '@headway/testkit';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { repositoryRoot, type Services, serviceNames, startServices } from '../harness/services.ts';

/** How long anything may take to come back after what was done to it. Milliseconds. */
const RECOVERING = 60_000;

let services: Services;
let copy: string;
beforeAll(async () => {
  services = await startServices({}, { own: true });
  copy = await mkdtemp(join(tmpdir(), 'headway-before-signals-'));
});
afterAll(async () => {
  await services?.stop();
  await rm(copy, { recursive: true, force: true });
});

const store = () => join(services.nats.dataDir as string, 'store');

let listener: Awaited<ReturnType<typeof listen>>;
beforeEach(async () => {
  listener = await listen(services.natsUrl);
});
afterEach(async () => {
  await listener?.stop();
});

/** Waits until a signal of a new work was heard: by then all that came before it was, too. */
async function expectOnce(work: string): Promise<void> {
  const api = apiOf(services);
  const heardBefore = new Set(listener.raised());
  const { position } = await eventually(() => api.post(stuck(work)), { within: RECOVERING, what: 'an answer' });
  const listed = await eventually(() => api.signals(position), { within: RECOVERING, what: 'the signals' });
  const [own, ...more] = listed.filter(({ works }) => works[0] === work).map(({ signal }) => signal);
  expect(more).toEqual([]);
  await eventually(() => listener.raised().includes(own as string), { within: RECOVERING, what: 'the new signal' });
  expect(listener.raised().toSorted()).toEqual([...heardBefore, own].toSorted());
}

it('kills, a lost position and a rebuild emit no signal twice', { timeout: 300_000 }, async () => {
  const api = apiOf(services);
  const { position } = await api.post(['A', 'B'].flatMap(stuck));
  const before = await eventually(() => api.signals(position), { within: RECOVERING, what: 'the signals' });
  expect(before).toHaveLength(2);
  await eventually(() => listener.raised().length === 2, { within: RECOVERING, what: 'the signals on their subjects' });

  for (const service of serviceNames) {
    await services.kill(service);
    await services.start(service);
  }
  await expectOnce('after the kills');

  // Every reader begins at the beginning of the log.
  for (const service of serviceNames) await services.kill(service);
  expect(await forgetPositions()).toBeGreaterThan(0);
  for (const service of serviceNames) await services.start(service);
  await expectOnce('after the lost positions');

  await rebuild();
  await expectOnce('after the rebuild');
  const after = (await api.signals(null)).filter(({ works }) => works[0] === 'A' || works[0] === 'B');
  expect(after).toEqual(before);
});

it('a bus that came up as an older copy and was put back emits no signal twice', { timeout: 300_000 }, async () => {
  const api = apiOf(services);
  await api.post([event('before', 'headway.work.claimed', { worker: 'w', orchestrator: 'o' })]);
  await services.nats.kill9();
  await cp(store(), copy, { recursive: true });
  await services.nats.restart();

  const { position } = await eventually(() => api.post(['C', 'D', 'E'].flatMap(stuck)), { within: RECOVERING });
  // What is shown is archived, so that it can be put back.
  const before = await eventually(() => api.signals(position), { within: RECOVERING, what: 'the signals' });
  await eventually(() => listener.raised().length === 3, { within: RECOVERING, what: 'the signals on their subjects' });
  await services.nats.kill9();
  await rm(store(), { recursive: true });
  await cp(copy, store(), { recursive: true });
  await services.nats.restart();
  await eventually(async () => (await fetch(`${services.url('classifier')}/readyz`)).status === 503, {
    within: RECOVERING,
    what: 'the classifier noticing',
  });
  await restore();

  await expectOnce('after the restore');
  const after = (await api.signals(null)).filter(({ works }) => works[0] !== 'after the restore');
  expect(after).toEqual(before);
});

let ids = 0;
function event(work: string, type: string, data: object): object {
  ids += 1;
  return { specversion: '1.0', source: 'restore', id: `e-${ids}`, subject: work, type, data };
}
const stuck = (work: string): object[] => {
  const failed = {
    gate: 'test',
    outcome: 'failed',
    exitCode: 1,
    failures: [{ key: `own ${work}` }],
    diff: { hash: work },
  };
  return [
    event(work, 'headway.work.claimed', { worker: 'w', orchestrator: 'o' }),
    ...[1, 2, 3].map(() => event(work, 'headway.gate.attempted', failed)),
  ];
};

async function restore(): Promise<void> {
  const program = join(repositoryRoot, 'packages/faces/cli/src/main.ts');
  const env = { ...process.env, HEADWAY_NATS_URL: services.natsUrl, HEADWAY_POSTGRES_URL: services.postgresUrl };
  await promisify(execFile)(process.execPath, [program, 'bus', 'restore', '--json', '--yes'], { env });
}

async function rebuild(): Promise<void> {
  const headers = { authorization: `Bearer ${services.token}`, 'content-type': 'application/json' };
  const url = `${services.url('projection')}/v1/projections`;
  const newest = async () => {
    const { items } = (await (await fetch(url, { headers })).json()) as { items: ProjectionView[] };
    return items[0]?.rebuild?.state;
  };
  const body = JSON.stringify({ why: 'to see that nobody is told again' });
  const asked = await fetch(`${url}/fleet/rebuild`, { method: 'POST', headers, body });
  expect(asked.status).toBe(202);
  await eventually(async () => (await newest()) === 'switched', { within: RECOVERING, what: 'the switch' });
}

/** Takes away what readers noted of how far they were. Gives how many notes there were. */
async function forgetPositions(): Promise<number> {
  const connection = await connect({ servers: services.natsUrl });
  try {
    const manager = await jetstreamManager(connection);
    return (await manager.streams.purge('RECORD', { filter: 'record.position.>' })).purged;
  } finally {
    await connection.close();
  }
}

/** A plain subscriber that deduplicates by event id and outlasts the server. */
async function listen(natsUrl: string) {
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 200 });
  const heard = new Map<string, string>();
  const subscription = connection.subscribe('trajectory.signal.>');
  const ended = (async () => {
    for await (const message of subscription) {
      const { id, data } = message.json() as { id: string; data: { signal: string } };
      heard.set(id, data.signal);
    }
  })();
  return {
    /** One entry for each event id: a signal that were raised under two would be here twice. */
    raised: () => [...heard.values()],
    stop: async () => {
      await connection.close();
      await ended;
    },
  };
}

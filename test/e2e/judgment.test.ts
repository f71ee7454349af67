import type { Page, SignalView, WorkView } from '@headway/contracts';
import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { type Services, startServices } from '../harness/services.ts';

/** Works of the fleet, those that fail one gate in one way, and those of them that get through first. */
const FLEET = 200;
const FAILING = 40;
const FIRST_THROUGH = 10;
const KILLS = 8;
/** Reading again after a kill. Milliseconds. */
const AGAIN = 60_000;

describe('one cause, one signal, through the running services', () => {
  let services: Services;
  let listener: Awaited<ReturnType<typeof listen>>;
  beforeAll(async () => {
    services = await startServices();
    listener = await listen(services.natsUrl);
  });
  afterAll(async () => {
    await listener?.stop();
    await services?.stop();
  });

  it('40 of 200 works fail alike: one signal, while the classifier is killed at every point of it', {
    timeout: 180_000,
  }, async () => {
    const tenant = 'shared';
    const api = apiOf(services, tenant);
    const works = Array.from({ length: FLEET }, (_, at) => `W-${at}`);
    const failing = works.slice(0, FAILING);
    const openSignals = async (after: string | null) =>
      (await eventually(() => api.signals(after), { what: 'the signals of all evidence', within: AGAIN })).filter(
        ({ state }) => state === 'open',
      );

    await api.post(works.map((work) => claim(work)));
    // Killed again and again while the failures come in: before, between and after them, with nobody waiting for it.
    let position: string | null = null;
    for (let from = 0; from < FAILING; from += FAILING / KILLS) {
      const some = failing.slice(from, from + FAILING / KILLS);
      position = (await api.post(some.flatMap((work) => [failed(work, 1), failed(work, 2), failed(work, 3)]))).position;
      await restart();
    }
    position = (await api.post(works.slice(FAILING).map((work) => passed(work)))).position;
    const [shared, ...others] = await openSignals(position);
    expect(others).toEqual([]);
    expect(shared).toMatchObject({ kind: 'shared-failure', gate: 'integration' });
    expect(shared?.works.toSorted()).toEqual(failing.toSorted());

    // Ten get through while it is killed: still the same one.
    position = (await api.post(failing.slice(0, FIRST_THROUGH).map((work) => passed(work)))).position;
    await restart();
    const still = await openSignals(position);
    expect(still.map(({ signal }) => signal)).toEqual([shared?.signal]);
    expect(still[0]?.works).toHaveLength(FAILING - FIRST_THROUGH);

    // All get through: withdrawn.
    await services.kill('classifier');
    position = (await api.post(failing.slice(FIRST_THROUGH).map((work) => passed(work)))).position;
    await endLeases(services.postgresUrl);
    await services.start('classifier');
    expect(await openSignals(position)).toEqual([]);
    const all = await api.signals(position);
    expect(all.find(({ signal }) => signal === shared?.signal)?.state).toBe('withdrawn');
    expect(all.filter(({ kind }) => kind === 'shared-failure')).toHaveLength(1);

    // What other tools heard: each signal once, by event id, and no more shared failures than there were.
    await listener.settled(tenant, all.length);
    expect(listener.raised(tenant, 'shared-failure')).toEqual([shared?.signal]);
    expect(listener.raised(tenant).toSorted()).toEqual(all.map(({ signal }) => signal).toSorted());
  });

  it('reading everything again, with the positions of the classifier lost, emits no signal twice', async () => {
    const tenant = 'again';
    const api = apiOf(services, tenant);
    const { position } = await api.post(
      ['A', 'B'].flatMap((work) => [claim(work), ...[1, 2, 3].map((at) => failed(work, at, `${work}-own`))]),
    );
    const before = await eventually(() => api.signals(position), { what: 'the signals' });
    expect(before.map(({ state }) => state)).toEqual(['open', 'open']);
    await listener.settled(tenant, before.length);

    await services.kill('classifier');
    await forgetPositions(services.natsUrl);
    await endLeases(services.postgresUrl);
    await services.start('classifier');
    const marker = await api.post([claim('C')]);
    const after = await eventually(() => api.signals(marker.position), { what: 'the signals again', within: AGAIN });
    expect(after).toEqual(before);
    // The feed has been gone through once more when the last assessment was announced again or for the first time.
    await listener.heard(tenant, 'C');
    expect(listener.raised(tenant).toSorted()).toEqual(before.map(({ signal }) => signal).toSorted());
  });

  it('a reply over HTTP acknowledges, is read by its position, and is judged by who sent it', async () => {
    const tenant = 'replies';
    const api = apiOf(services, tenant);
    const { position } = await api.post([claim('W'), ...[1, 2, 3].map((at) => failed('W', at, 'own'))]);
    const [signal] = await eventually(() => api.signals(position), { what: 'the signal' });
    const stranger = await reply(tenant, signal?.signal ?? '', { intent: 'AGREE', from: 'passer-by' });
    expect((await api.signals(stranger))[0]?.state).toBe('open');
    const message = await reply(tenant, signal?.signal ?? '', { intent: 'INFORM', from: 'lead', text: 'looking' });
    expect((await api.signals(message))[0]?.state).toBe('open');
    const agreed = await reply(tenant, signal?.signal ?? '', { intent: 'AGREE', from: 'lead' });
    expect((await api.signals(agreed))[0]).toMatchObject({
      state: 'acknowledged',
      closing: { from: 'lead', intent: 'AGREE' },
    });
    const inbox = async (to: string) =>
      ((await read(tenant, `/v1/signals?to=${to}`)) as Page<SignalView>).items.map((one) => one.signal);
    expect(await inbox('lead')).toEqual([signal?.signal]);
    expect(await inbox('agent-W')).toEqual([signal?.signal]);
    expect(await inbox('passer-by')).toEqual([]);
  });

  it('a policy holds for the evidence after it, by lane, and is told with each assessment, also after a restart', async () => {
    const tenant = 'policy';
    const api = apiOf(services, tenant);
    await api.post([claim('before'), failed('before', 1, 'x'), failed('before', 2, 'x')]);
    const set = await fetch(`${services.url('ingest')}/v1/policy`, {
      method: 'PUT',
      headers: { ...headersOf(tenant), 'content-type': 'application/json' },
      body: JSON.stringify({ lane: 'fast', numbers: { sameFailure: 2 }, by: 'ana', why: 'short gates' }),
    });
    expect(set.status).toBe(200);
    const two = (work: string, lane: string) => [claim(work, lane), failed(work, 1, work), failed(work, 2, work)];
    const { position } = await api.post([...two('quick', 'fast'), ...two('other', 'slow')]);
    const told = async (work: string) => {
      const { class: is, assessment } = await eventually(() => api.work(work, position), { what: work });
      return { is, policy: assessment?.policy, differs: assessment?.policyDiffers };
    };
    const expected = { is: 'stagnating', policy: 1, differs: { sameFailure: 2 } };
    expect(await told('quick')).toEqual(expected);
    expect(await told('other')).toEqual({ is: 'slow', policy: 0, differs: undefined });
    expect(await told('before')).toEqual({ is: 'slow', policy: 0, differs: undefined });
    await restart();
    const next = await api.post([failed('quick', 3, 'quick'), failed('before', 3, 'x')]);
    expect(
      (await eventually(() => api.work('before', next.position), { what: 'before', within: AGAIN })).assessment,
    ).toMatchObject({
      rule: 'same-failure',
      count: 3,
    });
    expect(await told('quick')).toEqual(expected);
  });

  it('a worker’s done is a claim until its done gate passes on that state', async () => {
    const tenant = 'done';
    const api = apiOf(services, tenant);
    const said = event('W', 'headway.work.done', { by: 'worker' });
    const { position } = await api.post([claim('W'), passed('W'), said]);
    const phase = async (after: string | null): Promise<WorkView['phase']> =>
      (await eventually(() => api.work('W', after), { what: 'the phase' })).phase;
    expect(await phase(position)).toBe('done-claimed');
    const gate = { gate: 'accept', stage: 'done', outcome: 'passed', exitCode: 0, diff: { hash: 'fixed' } };
    expect(await phase((await api.post([event('W', 'headway.gate.attempted', gate)])).position)).toBe('done');
  });

  async function restart(): Promise<void> {
    await services.kill('classifier');
    await endLeases(services.postgresUrl);
    await services.start('classifier');
  }
  const headersOf = (tenant: string) => ({ authorization: `Bearer ${services.token}`, 'headway-tenant': tenant });
  const read = async (tenant: string, path: string): Promise<unknown> =>
    (await fetch(services.url('projection') + path, { headers: headersOf(tenant) })).json();
  async function reply(tenant: string, signal: string, body: object): Promise<string> {
    const answer = await fetch(`${services.url('ingest')}/v1/signals/${signal}/replies`, {
      method: 'POST',
      headers: { ...headersOf(tenant), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { position: string }).position;
  }
});

let ids = 0;
function event(work: string, type: string, data: object): object {
  ids += 1;
  return { specversion: '1.0', source: 'judgment', id: `e-${ids}`, subject: work, type, data };
}
const claim = (work: string, lane?: string) =>
  event(work, 'headway.work.claimed', { worker: `agent-${work}`, orchestrator: 'lead', ...(lane && { lane }) });
const failed = (work: string, _at: number, key = 'integration > connects') =>
  event(work, 'headway.gate.attempted', {
    gate: 'integration',
    outcome: 'failed',
    exitCode: 1,
    failures: [{ key }],
    diff: { hash: `diff of ${work}` },
  });
const passed = (work: string) =>
  event(work, 'headway.gate.attempted', {
    gate: 'integration',
    outcome: 'passed',
    exitCode: 0,
    diff: { hash: 'fixed' },
  });

/** What a tool outside hears that subscribes to the public subjects and deduplicates by event id. */
async function listen(natsUrl: string) {
  const connection = await connect({ servers: natsUrl });
  const heard = new Map<string, { tenant: string; type: string; kind: string; signal: string; subject: string }>();
  const subscription = connection.subscribe('trajectory.>');
  const ended = (async () => {
    for await (const message of subscription) {
      const told = message.json() as {
        id: string;
        type: string;
        tenant: string;
        subject: string;
        data: { signal?: string; kind?: string };
      };
      const { kind = '', signal = '' } = told.data;
      heard.set(told.id, { tenant: told.tenant, type: told.type, subject: told.subject, kind, signal });
    }
  })();
  const raised = (tenant: string, kind?: string) =>
    [...heard.values()].flatMap((one) =>
      one.tenant === tenant && one.type === 'headway.signal.raised' && (kind === undefined || one.kind === kind)
        ? [one.signal]
        : [],
    );
  return {
    raised,
    settled: (tenant: string, signals: number) =>
      eventually(() => raised(tenant).length >= signals, { what: `${signals} signals on the public subjects` }),
    heard: (tenant: string, subject: string) =>
      eventually(() => [...heard.values()].some((one) => one.tenant === tenant && one.subject === subject), {
        what: `something about ${subject} on the public subjects`,
      }),
    stop: async () => {
      await connection.drain();
      await ended;
    },
  };
}

/** What time does: the leases of a process that was killed end, and another may take over. */
async function endLeases(postgresUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`update claims.claim set lease_until = clock_timestamp() - interval '1 second'`);
  await client.end();
}

/** Takes back every hint of where to start again, as an older copy of them would. */
async function forgetPositions(natsUrl: string): Promise<void> {
  const log = await connectJetStreamLog({ servers: natsUrl, name: 'forget' });
  for (const reader of ['classifier', 'signaller', 'feed']) {
    const subject = subjects.position(reader);
    const last = await log.last(STREAMS.record, subject);
    const answer = await log.append({
      subject,
      payload: Buffer.from(JSON.stringify({ v: 1, positions: {} })),
      expectedLastSequence: last?.sequence ?? 0,
    });
    if (answer.outcome !== 'appended') throw new Error(`positions of ${reader}: ${answer.outcome}`);
  }
  await log.close();
}

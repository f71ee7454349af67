import type { Page, SignalView, WorkView } from '@headway/contracts';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { endLeases } from '../harness/end-leases.ts';
import { claim, event, failed, passed } from '../harness/judged-work.ts';
import { type Services, startServices } from '../harness/services.ts';

/** Reading again after a kill. Milliseconds. */
const AGAIN = 60_000;

describe('judgment through the running services', () => {
  let services: Services;
  beforeAll(async () => {
    services = await startServices();
  });
  afterAll(async () => {
    await services?.stop();
  });

  it('a reply over HTTP acknowledges, is read by its position, and is judged by who sent it', async () => {
    const tenant = 'replies';
    const api = apiOf(services, tenant);
    const { position } = await api.post([claim('W'), ...[1, 2, 3].map(() => failed('W', 'own'))]);
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
    await api.post([claim('before'), failed('before', 'x'), failed('before', 'x')]);
    const set = await fetch(`${services.url('ingest')}/v1/policy`, {
      method: 'PUT',
      headers: { ...headersOf(tenant), 'content-type': 'application/json' },
      body: JSON.stringify({ lane: 'fast', numbers: { sameFailure: 2 }, by: 'ana', why: 'short gates' }),
    });
    expect(set.status).toBe(200);
    const two = (work: string, lane: string) => [claim(work, lane), failed(work, work), failed(work, work)];
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
    const next = await api.post([failed('quick', 'quick'), failed('before', 'x')]);
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

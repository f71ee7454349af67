import { type EvidenceCommit, partitionOf, STREAMS, subjects } from '@headway/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Rig, startRig } from './rig.ts';

describe('claims over HTTP', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  const claim = (resource: string, holder: string, more: object = {}) =>
    rig.call('POST', '/v1/claims', { resource, holder, ...more });

  it('gives a resource to one holder, and its token renews and releases', async () => {
    const first = await claim('unit/1', 'ann');
    expect(first).toMatchObject({ status: 201, body: { resource: 'unit/1', epoch: 1, holder: 'ann' } });
    expect(await claim('unit/1', 'bob')).toMatchObject({ status: 409, body: { code: 'claim_held' } });
    const { token } = first.body;
    expect(await rig.call('POST', '/v1/claims/renew', { token, leaseSeconds: 60 })).toMatchObject({ status: 200 });
    expect(await rig.call('POST', '/v1/claims/release', { token })).toMatchObject({ status: 200 });
    expect(await claim('unit/1', 'bob')).toMatchObject({ status: 201, body: { epoch: 2 } });
  });

  it('refuses a stale token as fenced, and keeps that as evidence', async () => {
    const { token } = (await claim('unit/2', 'ann')).body;
    await rig.call('POST', '/v1/claims/release', { token });
    await claim('unit/2', 'bob');
    for (const what of ['renew', 'release', 'wait'])
      expect(await rig.call('POST', `/v1/claims/${what}`, { token })).toMatchObject({
        status: 409,
        body: { code: 'fenced' },
      });
    const kept = await rig.log.last(STREAMS.acts, subjects.act('default'));
    expect(JSON.parse(Buffer.from(kept?.payload ?? '').toString('utf8'))).toMatchObject({
      type: 'headway.claim.fenced',
      resource: 'unit/2',
      epoch: 1,
      holder: 'ann',
    });
    expect((await rig.call('GET', '/v1/claims?prefix=unit/2')).body.items).toEqual([
      { resource: 'unit/2', epoch: 2, holder: 'bob', waiting: false },
    ]);
  });

  it("makes the claim's epoch the incarnation of a work", async () => {
    const first = (await claim('work/W-1', 'ann', { work: { lane: 'core' } })).body;
    await rig.call('POST', '/v1/claims/release', { token: first.token });
    await claim('work/W-1', 'bob');
    const subject = subjects.claimed('default', 'W-1');
    expect(subject).toContain(`evidence.${partitionOf('default', 'W-1')}.`);
    const last = await rig.log.last(STREAMS.evidence, subject);
    const commit = JSON.parse(Buffer.from(last?.payload ?? '').toString('utf8')) as EvidenceCommit;
    expect(commit.events[0]).toMatchObject({
      type: 'headway.work.claimed',
      subject: 'W-1',
      incarnation: 2,
      data: { worker: 'bob' },
    });
  });

  it('lets what waits be taken up by its holder alone', async () => {
    const { token } = (await claim('unit/3', 'ann')).body;
    const waiting = await rig.call('POST', '/v1/claims/wait', { token, leaseSeconds: 60 });
    expect(waiting).toMatchObject({ status: 200, body: { epoch: 2 } });
    expect(await claim('unit/3', 'bob')).toMatchObject({ status: 409 });
    expect(await claim('unit/3', 'ann')).toMatchObject({ status: 201, body: { epoch: 3 } });
  });

  it('knows no token of another tenant, nor one that it did not make', async () => {
    const { token } = (await claim('unit/4', 'ann')).body;
    const other = { operator: true, tenant: 'other' };
    expect(await rig.call('POST', '/v1/claims/renew', { token }, other)).toMatchObject({ status: 400 });
    expect(await rig.call('POST', '/v1/claims/renew', { token: 'forged' })).toMatchObject({ status: 400 });
    expect(await rig.call('POST', '/v1/claims', { resource: 'unit/4', holder: 'eve' }, other)).toMatchObject({
      status: 201,
    });
  });

  it('says what is wrong with a request', async () => {
    expect(await claim('', 'ann')).toMatchObject({ status: 400, body: { pointer: '/resource' } });
    expect(await claim('work/', 'ann')).toMatchObject({ status: 400, body: { pointer: '/resource' } });
    expect(await claim('unit/5', 'ann', { leaseSeconds: 1e9 })).toMatchObject({ body: { pointer: '/leaseSeconds' } });
    expect(await claim('unit/5', 'ann', { work: {} })).toMatchObject({ status: 400, body: { pointer: '/work' } });
  });
});

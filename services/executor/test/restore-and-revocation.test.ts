import { randomUUID } from 'node:crypto';
import { connectPostgresClaims } from '@headway/claims';
import { createMemoryLog } from '@headway/eventlog';
import { createLogger } from '@headway/runtime';
import { eventually } from '@headway/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverFromOlderCopy, UNSEEN_EPOCHS } from '../src/restored.ts';
import { type Rig, startRig } from './rig.ts';

describe('authority, at the start of an effect', () => {
  let rig: Rig;
  let admin: pg.Client;
  // What a transaction sees of others' activity stands still: who looks holds none.
  let onlooker: pg.Client;
  beforeAll(async () => {
    rig = await startRig();
    admin = new pg.Client({ connectionString: rig.url });
    onlooker = new pg.Client({ connectionString: rig.url });
    await Promise.all([admin.connect(), onlooker.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.end(), onlooker.end()]);
    await rig.stop();
  });

  let seconds = 0;
  const authorise = (subject: string, more: object = {}) => {
    seconds += 1;
    const observedAt = new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
    const body = { verdict: 'True', observedAt, maximum: 10, by: 'Ada', planRevision: 'r1', ...more };
    return rig.call('PUT', `/v1/effects/authorities/${subject}`, body, { operator: true });
  };
  const state = async (operation: string) => (await rig.journal.get('default', operation))?.state;

  it('stops a start that was admitted before the revocation, with a pause exactly between', async () => {
    await authorise('pause');
    // The start takes the claim first, and here it has to wait for it: admitted, asked to start, not started.
    await admin.query('begin; lock table claims.claim in access exclusive mode');
    const asked = rig.ask({ authority: 'pause', planRevision: 'r1' });
    const operation = await eventually(async () => {
      const { rows } = await admin.query(
        `select operation from effects.operation where subject = 'pause' and state = 'ADMITTED'`,
      );
      return rows[0]?.operation as string | undefined;
    });
    await eventually(async () => {
      const { rows } = await onlooker.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%effects.take%'`,
      );
      return rows.length > 0;
    });
    const revoked = await rig.call('POST', '/v1/effects/authorities/pause/revoke', { by: 'Ada' }, { operator: true });
    expect(revoked).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) } });
    await admin.query('commit');
    expect((await asked).body).toMatchObject({ state: 'PROPOSED', attempt: 0 });
    expect(await state(operation)).toBe('PROPOSED');
    expect(rig.standIn.effects.get(operation)).toBeUndefined();
  });

  it('answers a revocation only after a start that has begun', async () => {
    await authorise('begun');
    await admin.query(`begin; select 1 from effects.authority where subject = 'begun' for update`);
    let answered = false;
    const revoking = rig
      .call('POST', '/v1/effects/authorities/begun/revoke', { by: 'Ada' }, { operator: true })
      .then(() => {
        answered = true;
      });
    await eventually(async () => {
      const { rows } = await onlooker.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%revoke_authority%'`,
      );
      return rows.length > 0;
    });
    expect(answered).toBe(false);
    await admin.query('commit');
    await revoking;
  });

  it('counts effects, and admits again what a newer verdict allows', async () => {
    await authorise('count', { maximum: 1 });
    expect((await rig.ask({ authority: 'count', planRevision: 'r1' })).body.state).toBe('SUCCEEDED');
    const second = await rig.ask({ authority: 'count', planRevision: 'r1' });
    expect(second.body).toMatchObject({ state: 'PROPOSED', reason: 'the approved number of effects is used up' });
    await authorise('count', { maximum: 2 });
    await eventually(async () => (await state(second.body.operation)) === 'SUCCEEDED');
  });

  it.each([
    ['a verdict False', { verdict: 'False' }, {}, 'REJECTED', 'the verdict is False'],
    ['a verdict Unknown', { verdict: 'Unknown' }, {}, 'PROPOSED', 'the verdict is Unknown'],
    ['another plan revision', {}, { planRevision: 'r0' }, 'PROPOSED', 'the plan was superseded'],
    [
      'an assumption that moved',
      { fingerprints: { base: 'b' } },
      { assumptions: { base: 'a' } },
      'PROPOSED',
      'an assumption moved',
    ],
  ])('starts nothing under %s', async (_what, authority, asked, expected, reason) => {
    const subject = randomUUID();
    await authorise(subject, authority);
    const answer = await rig.ask({ authority: subject, planRevision: 'r1', ...asked });
    expect(answer.body).toMatchObject({ state: expected, reason, attempt: 0 });
  });

  it('never lets an older verdict replace a newer one', async () => {
    await authorise('order', { observedAt: '2026-02-02T00:00:00Z', verdict: 'False' });
    const older = await authorise('order', { observedAt: '2026-02-01T00:00:00Z', verdict: 'True' });
    expect(older.body.verdict).toBe('False');
  });

  it('leaves what is started alone when it is revoked, and repeats it no more', async () => {
    await authorise('started');
    rig.standIn.faults = { cutAfterEffect: true };
    const asked = await rig.ask({ authority: 'started', planRevision: 'r1' });
    expect(asked.body.state).toBe('UNCERTAIN');
    await rig.call('POST', '/v1/effects/authorities/started/revoke', { by: 'Ada' }, { operator: true });
    rig.standIn.faults = {};
    const looked = await rig.call('POST', `/v1/effects/${asked.body.operation}/reconcile`, {});
    expect(looked.body).toMatchObject({ outcome: 'uncertain', effect: { state: 'UNCERTAIN' } });
    const resolution = { to: 'ABANDONED', by: 'Ada', reason: 'read in its log that it was applied, and undone' };
    const resolved = await rig.call('POST', `/v1/effects/${asked.body.operation}/resolve`, resolution, {
      operator: true,
    });
    expect(resolved).toMatchObject({ status: 200, body: { state: 'ABANDONED', reason: resolution.reason } });
    const again = await rig.call('POST', `/v1/effects/${asked.body.operation}/resolve`, resolution, { operator: true });
    expect(again).toMatchObject({ status: 409, body: { code: 'not_uncertain' } });
  });

  it('refuses a resolution without a name or a reason', async () => {
    const path = `/v1/effects/${'0'.repeat(64)}/resolve`;
    expect(await rig.call('POST', path, { to: 'SUCCEEDED', reason: 'x' }, { operator: true })).toMatchObject({
      status: 400,
    });
    expect(await rig.call('POST', path, { to: 'SUCCEEDED', by: 'x', reason: ' ' }, { operator: true })).toMatchObject({
      status: 400,
    });
  });
});

describe('a database that was restored from an older copy (d01)', () => {
  it('takes over what the log knows, raises every epoch and believes nothing that is STARTED', async () => {
    const log = createMemoryLog();
    // Long enough for all of this to happen within one attempt.
    const rig = await startRig({ log, targets: { timeoutMs: 50_000 } });
    await rig.allowHttp();
    const admin = new pg.Client({ connectionString: rig.url });
    await admin.connect();
    const nothingUnpublished = () =>
      eventually(async () => {
        const { rows } = await admin.query('select count(*)::int as n from effects.outbox');
        return rows[0].n === 0;
      });
    rig.standIn.faults = { silent: true };
    const body = { kind: 'http', target: `${rig.standIn.origin}/notes`, key: 'started', inputs: {} };
    const started = (await rig.call('POST', '/v1/effects', body)).body;
    await eventually(async () => (await rig.journal.get('default', started.operation))?.state === 'STARTED');
    await nothingUnpublished();
    rig.standIn.faults = {};
    const claims = connectPostgresClaims(rig.url);
    const [granted] = await claims.acquire(['agent/default/unit'], 'one', 0.01);
    const tables = ['operation', 'history', 'published'];
    for (const name of tables) await admin.query(`create table effects.kept_${name} as table effects.${name}`);

    // What the older copy does not hold: everything from here on.
    const after = (await rig.ask({ key: 'after' })).body;
    expect(after.state).toBe('SUCCEEDED');
    await nothingUnpublished();
    const history = await rig.journal.history('default', after.operation);
    const restored = tables.map(
      (name) => `delete from effects.${name}; insert into effects.${name} table effects.kept_${name};`,
    );
    await admin.query(`begin; ${restored.join('')} commit`);
    expect(await rig.journal.get('default', after.operation)).toBeNull();

    const signal = AbortSignal.timeout(30_000);
    const logger = createLogger('test');
    expect(await recoverFromOlderCopy(rig.journal, log, logger, signal)).toEqual({ behind: 1, marked: 1 });
    expect(await rig.journal.get('default', started.operation)).toMatchObject({ state: 'UNCERTAIN' });
    const afterNow = await rig.journal.get('default', after.operation);
    expect(afterNow).toMatchObject({ state: 'SUCCEEDED', result: after.result, digest: after.digest });
    expect(await rig.journal.history('default', after.operation)).toEqual(history);
    const [next] = await claims.acquire(['agent/default/unit'], 'two', 60);
    expect(next?.epoch).toBeGreaterThan((granted?.epoch as number) + UNSEEN_EPOCHS);
    expect((await rig.ask({ key: 'after' })).body.result).toEqual(after.result);
    expect(rig.standIn.effects.get(after.operation)).toBe(1);
    await nothingUnpublished();
    expect(await recoverFromOlderCopy(rig.journal, log, logger, signal)).toEqual({ behind: 0, marked: 0 });
    await claims.close();
    await admin.end();
    await rig.standIn.stop();
    await rig.stop();
  });
});

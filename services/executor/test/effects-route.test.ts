import { STREAMS, subjects } from '@headway/contracts';
import { verifyHistory } from '@headway/effects';
import { eventually } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../src/relay.ts';
import { type Rig, startRig } from './rig.ts';

describe('effects over HTTP', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.allowHttp();
    await rig.allowHttp(10_000, { operator: true, tenant: 'other' });
  });
  afterEach(() => {
    rig.standIn.faults = {};
  });
  afterAll(() => rig.stop());

  it('has the effect once, and answers with the recorded result when it is asked for again', async () => {
    const first = await rig.ask({ key: 'once' });
    expect(first).toMatchObject({ status: 202, body: { state: 'SUCCEEDED', attempt: 1, result: { status: 201 } } });
    const again = await rig.ask({ key: 'once' });
    expect(again.status).toBe(200);
    expect(again.body.result).toEqual(first.body.result);
    expect(rig.standIn.effects.get(first.body.operation)).toBe(1);
  });

  it('refuses the same identity with other inputs, and takes the next generation for another operation', async () => {
    const first = await rig.ask({ key: 'inputs' });
    const other = await rig.ask({ key: 'inputs', inputs: { json: { text: 'goodbye' } } });
    expect(other).toMatchObject({ status: 422, body: { code: 'operation_conflict' } });
    const repeat = await rig.ask({ key: 'inputs', generation: 2, inputs: { json: { text: 'goodbye' } } });
    expect(repeat.body.state).toBe('SUCCEEDED');
    expect(repeat.body.operation).not.toBe(first.body.operation);
  });

  it("takes another tenant's equal key for its own operation, and shows nobody another's", async () => {
    const mine = await rig.ask({ key: 'tenants' });
    const theirs = await rig.ask({ key: 'tenants' }, { operator: true, tenant: 'other' });
    expect(theirs).toMatchObject({ status: 202, body: { state: 'SUCCEEDED' } });
    expect(theirs.body.operation).not.toBe(mine.body.operation);
    const peek = await rig.call('GET', `/v1/effects/${theirs.body.operation}`);
    expect(peek).toMatchObject({ status: 404, body: { code: 'effect_not_found' } });
  });

  it('starts nothing without a policy, and starts it when an operator writes one', async () => {
    const as = { operator: true, tenant: 'strict' };
    const asked = await rig.ask({ key: 'policy' }, as);
    expect(asked.body).toMatchObject({ state: 'PROPOSED', reason: 'no policy of an operator allows it' });
    expect(rig.standIn.effects.get(asked.body.operation)).toBeUndefined();
    await rig.allowHttp(1, as);
    await eventually(async () => (await rig.ask({ key: 'policy' }, as)).body.state === 'SUCCEEDED');
    const second = await rig.ask({ key: 'beyond' }, as);
    expect(second.body).toMatchObject({ state: 'PROPOSED', reason: 'the policy allows no more within this hour' });
  });

  it('lets only an operator allow, revoke and resolve', async () => {
    const policy = { kind: 'http', target: '*', maximumPerHour: 1, by: 'Eve', reason: 'because' };
    expect(await rig.call('POST', '/v1/effects/policies', policy)).toMatchObject({ status: 403 });
    const resolution = { to: 'SUCCEEDED', by: 'Eve', reason: 'because' };
    expect(await rig.call('POST', `/v1/effects/${'0'.repeat(64)}/resolve`, resolution)).toMatchObject({ status: 403 });
    expect(await rig.call('POST', '/v1/effects/authorities/x/revoke', { by: 'Eve' })).toMatchObject({ status: 403 });
  });

  it('fails on a definitive refusal of the first attempt', async () => {
    rig.standIn.faults = { status: 403 };
    const asked = await rig.ask();
    expect(asked.body).toMatchObject({ state: 'FAILED', reason: 'the target answered 403' });
    expect(rig.standIn.effects.get(asked.body.operation)).toBeUndefined();
  });

  it.each([500, 503, 408, 409, 302, 429])('is uncertain on %i, then repeats with the same key', async (status) => {
    rig.standIn.faults = { status };
    const asked = await rig.ask();
    expect(asked.body).toMatchObject({ state: 'UNCERTAIN', reason: `the target answered ${status}`, attempt: 1 });
    expect(asked.body.resolvedBy).toMatch(/same key/);
    rig.standIn.faults = {};
    await eventually(async () => (await rig.journal.get('default', asked.body.operation))?.state === 'SUCCEEDED', {
      within: 20_000,
    });
    expect(rig.standIn.effects.get(asked.body.operation)).toBe(1);
  });

  it('finds the effect of an attempt whose answer was lost, by asking with the same key', async () => {
    rig.standIn.faults = { cutAfterEffect: true };
    const asked = await rig.ask();
    expect(asked.body.state).toBe('UNCERTAIN');
    rig.standIn.faults = {};
    await eventually(async () => (await rig.journal.get('default', asked.body.operation))?.state === 'SUCCEEDED', {
      within: 20_000,
    });
    expect(rig.standIn.effects.get(asked.body.operation)).toBe(1);
  });

  it('publishes every version in order, hash-chained, as the history shows it', async () => {
    const { body } = await rig.ask();
    const history = await rig.call('GET', `/v1/effects/${body.operation}/history`);
    expect(verifyHistory(body.operation, history.body.records)).toMatchObject({ ok: true });
    const types = history.body.records.map((record: { entry: string }) => JSON.parse(record.entry).type);
    expect(types).toEqual([
      'headway.effect.proposed',
      'headway.effect.admitted',
      'headway.effect.started',
      'headway.effect.succeeded',
    ]);
    const last = await eventually(async () => {
      const message = await rig.log.last(STREAMS.effects, subjects.effect('default', body.operation));
      const record = message === null ? null : recordOf(message);
      return record?.version === types.length ? record : null;
    });
    expect(last).toEqual(history.body.records.at(-1));
    const forged = history.body.records.map((record: any, at: number) =>
      at === 2 ? { ...record, entry: record.entry.replace('"attempt": 1', '"attempt": 2') } : record,
    );
    expect(verifyHistory(body.operation, forged)).toMatchObject({ ok: false, failure: { version: 3 } });
  });

  it('lists by state, page by page', async () => {
    const first = await rig.call('GET', '/v1/effects?state=SUCCEEDED&limit=2');
    expect(first.body.items).toHaveLength(2);
    const second = await rig.call('GET', `/v1/effects?state=SUCCEEDED&limit=2&cursor=${first.body.next}`);
    const ids = [...first.body.items, ...second.body.items].map(({ operation }: { operation: string }) => operation);
    expect(new Set(ids).size).toBe(4);
  });

  it('says what is wrong with a request', async () => {
    expect(await rig.ask({ kind: 'carrier.pigeon' })).toMatchObject({ status: 422, body: { code: 'unknown_kind' } });
    expect(await rig.ask({ target: 'http://169.254.169.254/latest' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', pointer: '/target' },
    });
    expect(await rig.ask({ inputs: { json: 1, text: 'x' } })).toMatchObject({ body: { pointer: '/inputs/text' } });
    expect(await rig.ask({ inputs: { headers: { authorization: 'x' } } })).toMatchObject({ status: 400 });
    expect(await rig.ask({ assumptions: { a: 'b' } })).toMatchObject({ body: { pointer: '/authority' } });
  });
});

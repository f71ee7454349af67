import { encodeRecord, type PolicyAnswer, type PolicyCommit, type Problem, subjects } from '@headway/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { type IngestUnderTest, messagesOf, startIngest, TOKEN } from './ingest-under-test.ts';

const open: IngestUnderTest[] = [];
afterEach(async () => {
  for (const ingest of open.splice(0)) await ingest.stop();
});

async function ingest() {
  const started = await startIngest();
  open.push(started);
  await started.untilReady();
  const put = async (body: unknown, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) => {
    const answer = await started.app.inject({
      method: 'PUT',
      url: '/v1/policy',
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    });
    return { status: answer.statusCode, body: answer.json() as PolicyAnswer & Problem };
  };
  return { ...started, put };
}

const change = { numbers: { sameFailure: 5 }, by: 'ana', why: 'slow suite' };

describe('a policy', () => {
  it('is an act in the stream of the evidence, with who and why, and each change is a version', async () => {
    const { put, store } = await ingest();
    expect(await put(change)).toMatchObject({
      status: 200,
      body: { version: 1, lane: null, position: 'EVIDENCE:1:1' },
    });
    expect((await put({ ...change, lane: 'ui', numbers: { circling: 0, noMovement: 5 } })).body.version).toBe(2);
    const written = await messagesOf(store);
    expect(written.map(({ subject }) => subject)).toEqual([subjects.policy('default'), subjects.policy('default')]);
    const last = JSON.parse(Buffer.from(written[1]?.payload ?? []).toString()) as PolicyCommit;
    // Only what is not the default is kept: noMovement is 5 anyway.
    expect(last.events[0].data).toEqual({
      version: 2,
      lane: 'ui',
      numbers: { circling: 0 },
      by: 'ana',
      why: 'slow suite',
    });
  });

  it('set again in the same way is the same version', async () => {
    const { put, store } = await ingest();
    await put(change);
    expect((await put(change)).body).toMatchObject({ version: 1, unchanged: true, position: 'EVIDENCE:1:1' });
    expect(await messagesOf(store)).toHaveLength(1);
  });

  it('goes on from the newest version where that was trimmed out of the evidence', async () => {
    const { put, store } = await ingest();
    const kept = (await put(change)).body.version;
    const event = {
      specversion: '1.0' as const,
      id: 'kept',
      source: 'test',
      type: 'headway.policy.set' as const,
      time: '2026-01-01T00:00:00Z',
      data: { version: 7, lane: null, numbers: {}, by: 'ana', why: 'long ago' },
    };
    await store.append({
      subject: subjects.keptPolicy('trimmed', 'newest'),
      payload: encodeRecord({ v: 1, sequence: 1, events: [event] }),
    });
    const headers = { authorization: `Bearer ${TOKEN}`, 'headway-tenant': 'trimmed' };
    expect((await put({ ...change, expectedVersion: 6 }, headers)).body.code).toBe('policy_moved');
    expect((await put(change, headers)).body.version).toBe(8);
    expect(kept).toBe(1);
  });

  it('of many at once each gets a version of its own', async () => {
    const { put } = await ingest();
    const answers = await Promise.all([2, 3, 4].map((sameFailure) => put({ ...change, numbers: { sameFailure } })));
    expect(answers.map(({ body }) => body.version).sort()).toEqual([1, 2, 3]);
  });

  it('is set by an operator alone', async () => {
    const { put, store } = await ingest();
    expect(await put(change, {})).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await messagesOf(store)).toEqual([]);
  });

  it('outside its limits is refused with what to change', async () => {
    const { put, store } = await ingest();
    for (const [body, pointer] of [
      [{ ...change, numbers: { sameFailure: 1 } }, '/numbers/sameFailure'],
      [{ ...change, numbers: { circlingDiffs: 4 } }, '/numbers/circlingDiffs'],
      [{ ...change, numbers: { sameFailure: 2.5 } }, '/numbers/sameFailure'],
      [{ ...change, numbers: { sameFailures: 3 } }, '/numbers'],
      [{ ...change, why: ' ' }, '/why'],
      [{ numbers: {}, why: 'x' }, '/by'],
    ] as const)
      expect(await put(body)).toMatchObject({ status: 400, body: { code: 'invalid_body', pointer } });
    expect((await put({ ...change, expectedVersion: 7 })).body.code).toBe('policy_moved');
    expect(await messagesOf(store)).toEqual([]);
  });
});

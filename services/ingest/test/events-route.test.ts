import { limits, subjects } from '@headway/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitOf, eventsOf, type IngestUnderTest, messagesOf, note, startIngest, TOKEN } from './ingest-under-test.ts';

let ingest: IngestUnderTest;
beforeEach(async () => {
  ingest = await startIngest();
  await ingest.untilReady();
});
afterEach(() => ingest.stop());
const structured = 'application/cloudevents+json';

describe('the four forms', () => {
  it('takes one event, structured and plain, and says where it stands', async () => {
    const first = await ingest.post(structured, JSON.stringify(note('1')));
    expect(first).toMatchObject({
      status: 202,
      body: {
        accepted: 1,
        duplicate: 0,
        refused: 0,
        position: 'EVIDENCE:1:1',
        events: [{ verdict: 'accepted', id: '1', source: 'test', position: 'EVIDENCE:1:1' }],
      },
    });
    expect((await ingest.post('application/json; charset=utf-8', JSON.stringify(note('2')))).status).toBe(202);
    expect((await ingest.post('application/json', JSON.stringify([note('3')]))).status).toBe(202);
    expect((await eventsOf(ingest.store)).map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('takes a batch: one message for each work, in order', async () => {
    const answer = await ingest.batch([note('1'), note('2', 'n', 'W-2'), note('3')]);
    expect(answer.body.events.map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted', 'accepted']);
    const messages = await messagesOf(ingest.store);
    expect(messages.map(({ subject }) => subject)).toEqual([
      subjects.evidence('default', 'W-1'),
      subjects.evidence('default', 'W-2'),
    ]);
    expect(messages.map((message) => commitOf(message).events.map(({ id }) => id))).toEqual([['1', '3'], ['2']]);
    expect(answer.body.position).toBe('EVIDENCE:1:2');
  });

  it('takes lines, and names the line it cannot', async () => {
    const answer = await ingest.post(
      'application/x-ndjson',
      `${JSON.stringify(note('1'))}\n{"id":\n${JSON.stringify({ ...note('2'), type: 'x' })}\n`,
    );
    expect(answer.status).toBe(202);
    expect(answer.body.events).toMatchObject([
      { verdict: 'accepted' },
      { verdict: 'refused', id: null, problem: { code: 'malformed_json', detail: expect.stringContaining('Line 2') } },
      { verdict: 'refused', id: '2', problem: { code: 'unknown_type', detail: expect.stringContaining('Line 3') } },
    ]);
  });

  it('takes an event in headers, and the same one structured is its duplicate', async () => {
    const { data, ...attributes } = note('1', 'é');
    const headers = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encodeURIComponent(value)]),
    );
    const binary = await ingest.post('application/json', JSON.stringify(data), { ...headers, 'ce-incarnation': '2' });
    expect(binary.status).toBe(202);
    const again = await ingest.post(structured, JSON.stringify({ ...note('1', 'é'), incarnation: 2 }));
    expect(again.body).toMatchObject({ accepted: 0, duplicate: 1, position: 'EVIDENCE:1:1' });
    expect(await eventsOf(ingest.store)).toMatchObject([{ id: '1', incarnation: 2 }]);
  });
});

describe('what is refused', () => {
  const deep = JSON.parse(`${'[['.repeat(20)}1${']]'.repeat(20)}`) as unknown;
  const large = note('1', 'n');
  const cases: [string, unknown, string, number][] = [
    ['an unknown type', { ...note('1'), type: 'other' }, 'unknown_type', 400],
    ['a type of ours', { ...note('1'), type: 'headway.monitor.ticked' }, 'reserved_type', 403],
    ['our own source', note('1', 'n', 'W-1', 'headway/ingest'), 'invalid_event', 400],
    ['the source of claims', note('1', 'n', 'W-1', 'urn:headway:claims'), 'invalid_event', 400],
    ['no work', { ...note('1'), subject: undefined }, 'missing_subject', 400],
    ['a NUL in the id', note('a\0b'), 'invalid_event', 400],
    ['half a character in the work', note('1', 'n', 'W-\ud800'), 'invalid_event', 400],
    ['too deep', { ...note('1'), data: { by: 'worker', deep } }, 'too_deep', 400],
    ['too large', { ...large, data: { ...large.data, more: 'x'.repeat(limits.eventBytes) } }, 'event_too_large', 413],
    ['no event', 7, 'invalid_event', 400],
  ];
  it.each(cases)(
    '%s: alone with its own status, in a batch beside what is taken',
    async (_what, event, code, status) => {
      const alone = await ingest.post(structured, JSON.stringify(event));
      expect(alone).toMatchObject({ status, body: { code, refused: 1, events: [{ problem: { code } }] } });
      expect(alone.headers['content-type']).toBe('application/problem+json');
      const batch = await ingest.batch([event, note('good', 'n', 'W-2')]);
      expect(batch).toMatchObject({
        status: 202,
        body: { accepted: 1, refused: 1, events: [{ problem: { code } }, { verdict: 'accepted' }] },
      });
      expect((await eventsOf(ingest.store)).map(({ id }) => id)).toEqual(['good']);
    },
  );

  it('several and all refused: 422, with the reason of each', async () => {
    const answer = await ingest.batch([7, { ...note('1'), type: 'other' }]);
    expect(answer).toMatchObject({
      status: 422,
      body: {
        code: 'nothing_accepted',
        refused: 2,
        events: [{ problem: { code: 'invalid_event' } }, { problem: { code: 'unknown_type' } }],
      },
    });
  });

  it.each([
    ['another media type', 'text/xml', '<a/>', {}, 'unsupported_media_type', 415],
    ['another charset', 'application/json; charset=latin1', '{}', {}, 'unsupported_media_type', 415],
    ['a compressed body', 'application/json', '{}', { 'content-encoding': 'gzip' }, 'unsupported_media_type', 415],
    ['malformed JSON', structured, '{', {}, 'malformed_json', 400],
    ['an empty body', structured, '', {}, 'malformed_json', 400],
    [
      'too many events',
      'application/json',
      JSON.stringify(Array.from({ length: 1_001 }, () => 1)),
      {},
      'batch_too_long',
      413,
    ],
  ])('a request with %s', async (_what, type, body, headers, code, status) => {
    expect(await ingest.post(type, body, headers)).toMatchObject({ status, body: { code } });
  });

  it('a caller who may not, in a tenant that is not theirs, or from a foreign page', async () => {
    const headers = { 'content-type': structured };
    const payload = JSON.stringify(note('1'));
    const send = (more: object) => ingest.app.inject({ method: 'POST', url: '/v1/events', payload, headers, ...more });
    expect((await send({ remoteAddress: '203.0.113.7' })).statusCode).toBe(401);
    expect((await send({ headers: { ...headers, 'headway-tenant': 'acme' } })).statusCode).toBe(403);
    expect((await send({ headers: { ...headers, origin: 'https://evil.example' } })).statusCode).toBe(403);
    expect(await eventsOf(ingest.store)).toEqual([]);
  });
});

describe('over a real connection', () => {
  it('takes 16 MiB and refuses more, with and without a length', async () => {
    await ingest.app.listen({ host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${(ingest.app.server.address() as { port: number }).port}/v1/events`;
    const headers = { 'content-type': 'application/x-ndjson' };
    const line = JSON.stringify(note('1'));
    const full = Buffer.concat([Buffer.from(line), Buffer.alloc(limits.batchBytes - line.length, '\n')]);
    expect((await fetch(url, { method: 'POST', headers, body: full })).status).toBe(202);
    const over = await fetch(url, { method: 'POST', headers, body: Buffer.concat([full, Buffer.from('\n')]) });
    expect([over.status, ((await over.json()) as { code: string }).code]).toEqual([413, 'body_too_large']);
    const chunked = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 17; part += 1) controller.enqueue(Buffer.alloc(1024 * 1024, '\n'));
        controller.close();
      },
    });
    const streamed = await fetch(url, { method: 'POST', headers, body: chunked, duplex: 'half' } as RequestInit);
    expect([streamed.status, ((await streamed.json()) as { code: string }).code]).toEqual([413, 'body_too_large']);
    // What was reserved for those bodies is free again.
    for (let round = 0; round < 12; round += 1) expect((await ingest.batch([note(`later ${round}`)])).status).toBe(202);
  });
});

describe('what stands in the log', () => {
  it("is in the caller's tenant, and tenants do not share identities", async () => {
    const operator = { authorization: `Bearer ${TOKEN}`, 'headway-tenant': 'acme' };
    expect((await ingest.batch([note('1')])).body.accepted).toBe(1);
    expect((await ingest.batch([note('1', 'other')], operator)).body.accepted).toBe(1);
    expect((await messagesOf(ingest.store)).map(({ subject }) => subject)).toEqual([
      subjects.evidence('default', 'W-1'),
      subjects.evidence('acme', 'W-1'),
    ]);
  });

  it('has no secrets, a signature of ours, and the trace of the request', async () => {
    const secret = 'hunter2hunter2';
    const attempt = {
      ...note('1'),
      type: 'headway.gate.attempted',
      data: {
        gate: 'test',
        outcome: 'failed',
        failures: [{ key: `logs in with password=${secret}`, message: `password=${secret}` }],
        output: `password=${secret}\n`.repeat(20_000),
        note: `password=${secret}`,
        signature: { version: 1, value: 'forged', tool: null },
      },
    };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect((await ingest.post(structured, JSON.stringify(attempt), { traceparent })).status).toBe(202);
    const [message] = await messagesOf(ingest.store);
    const text = Buffer.from(message?.payload as Uint8Array).toString('utf8');
    expect(text).not.toContain(secret);
    expect(text).not.toContain('forged');
    expect(text.length).toBeLessThan(limits.outputBytes * 1.5);
    expect(message?.headers).toMatchObject({ traceparent });
    // What was reported decides about duplicates, not what was kept of it.
    expect((await ingest.post(structured, JSON.stringify(attempt))).body.duplicate).toBe(1);
    const other = { ...attempt, data: { ...attempt.data, note: 'password=another' } };
    expect((await ingest.post(structured, JSON.stringify(other))).status).toBe(409);
  });

  it('keeps the order of a work over several commits', async () => {
    const ids = Array.from({ length: 900 }, (_, index) => `e${index}`);
    expect((await ingest.batch(ids.map((id) => note(id)))).body.accepted).toBe(900);
    expect((await eventsOf(ingest.store)).map(({ id }) => id)).toEqual(ids);
    expect((await messagesOf(ingest.store)).length).toBe(4);
  });
});

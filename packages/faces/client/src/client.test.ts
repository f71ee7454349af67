import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem } from '@headway/contracts';
import { afterEach, describe, expect, test } from 'vitest';
import { clientLimits, createClient, type StreamItem } from './index.ts';
import { parseEvents } from './stream.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('calls', () => {
  test('name works whatever is in their id, and carry position, token and tenant', async () => {
    const seen: IncomingMessage[] = [];
    const url = await serve((request, response) => {
      seen.push(request);
      response.end('{"work":"x"}');
    });
    const client = createClient({ url: `${url}/base`, token: 'secret', tenant: 'blue' });
    await client.work('a/b ?#ö', { after: 'EVIDENCE:1:2' });
    expect(seen[0]?.url).toBe('/base/v1/works/a%2Fb%20%3F%23%C3%B6?after=EVIDENCE%3A1%3A2');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'headway-tenant': 'blue' });
  });

  test('report batches and lines', async () => {
    const seen: [string | undefined, string][] = [];
    const url = await serve((request, response, body) => {
      seen.push([request.headers['content-type'], body]);
      response.writeHead(202).end('{"events":[]}');
    });
    const client = createClient({ url });
    await client.report([{ id: '1' }]);
    await client.reportLines('{"id":"1"}\n');
    expect(seen).toEqual([
      ['application/cloudevents-batch+json', '[{"id":"1"}]'],
      ['application/x-ndjson', '{"id":"1"}\n'],
    ]);
  });

  test.each([
    [404, JSON.stringify(problem('work_not_found', 'No such work.')), 'refused'],
    [409, JSON.stringify(problem('identity_conflict', 'Taken.')), 'refused'],
    [503, JSON.stringify(problem('log_unavailable', 'Later.')), 'unavailable'],
    [504, JSON.stringify(problem('not_yet', 'Not there.')), 'unavailable'],
    [429, JSON.stringify(problem('too_busy', 'Later.')), 'unavailable'],
    [502, '<html>Bad gateway</html>', 'unavailable'],
    [404, '<html>Not found</html>', 'unavailable'],
    [200, '<html>Welcome</html>', 'unavailable'],
  ])('an answer %i %s is %s', async (status, body, kind) => {
    const url = await serve((_request, response) => void response.writeHead(status).end(body));
    const answer = await createClient({ url }).work('W-1');
    expect(answer.ok ? 'ok' : answer.failure.kind).toBe(kind);
  });

  test('a server that is gone, silent, or sends too much is unavailable, with the reason', async () => {
    const url = await serve(() => {});
    const silent = await createClient({ url, timeoutMs: 50 }).works();
    expect(silent).toMatchObject({
      ok: false,
      failure: { kind: 'unavailable', reason: expect.stringContaining('50 ms') },
    });
    const gone = await createClient({ url: 'http://127.0.0.1:9' }).works();
    expect(gone).toMatchObject({
      ok: false,
      failure: { reason: expect.stringMatching(/127\.0\.0\.1:9 cannot be reached: ./) },
    });
    expect(() => createClient({ url: 'ftp://host' })).toThrow(TypeError);
  });
});

describe('the stream', () => {
  async function take(
    url: string,
    until: (items: StreamItem[]) => boolean,
    lastEventId?: string,
  ): Promise<StreamItem[]> {
    const stop = new AbortController();
    const items: StreamItem[] = [];
    for await (const item of createClient({ url }).stream({ signal: stop.signal, backoffMs: 1, lastEventId })) {
      items.push(item);
      if (until(items)) stop.abort();
    }
    return items;
  }

  test('resumes after the last event, also through a break in the middle of one', async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 1) {
        response.write('id: 1\nevent: work\ndata: {"n":1}\n\nid: 2\nda');
        setImmediate(() => response.destroy());
      } else response.write('id: 2\nevent: work\ndata: {"n":2}\n\n');
    });
    const items = await take(url, (all) => all.filter((item) => item.kind === 'event').length === 2, '0');
    expect(items.flatMap((item) => (item.kind === 'event' ? [item.data] : []))).toEqual([{ n: 1 }, { n: 2 }]);
    expect(asked).toEqual(['0', '1']);
  });

  test('ends on a refusal, and is given up after a number of attempts', async () => {
    const refusing = await serve((_request, response) => {
      response.writeHead(403).end(JSON.stringify(problem('forbidden', 'No.')));
    });
    expect(await take(refusing, () => false)).toMatchObject([{ kind: 'refused', problem: { code: 'forbidden' } }]);
    let attempts = 0;
    const failing = await serve((_request, response) => {
      attempts += 1;
      response.writeHead(200).end('retry: 1\n\n');
    });
    expect((await take(failing, () => false)).at(-1)).toMatchObject({ kind: 'unavailable' });
    expect(attempts).toBe(clientLimits.streamAttempts);
  });

  test.each([1, 2, 3, 1000])('is read the same in chunks of %i bytes', async (size) => {
    const text =
      ': hello\r\n\r\nid: 7\r\nevent: signal\r\ndata: "a\\u00f6"\r\ndata:\r\n\r\ndata: größer\n\nretry: 5\n\n';
    const bytes = Buffer.from(text);
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const events = [];
    for await (const event of parseEvents(chunks(), () => {})) if (event.data !== null) events.push(event);
    expect(events).toEqual([
      { id: '7', event: 'signal', data: 'aö', retryMs: null },
      { id: null, event: 'message', data: 'größer', retryMs: null },
    ]);
  });
});

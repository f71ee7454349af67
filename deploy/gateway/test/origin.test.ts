import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Origin, type OriginOptions, openOrigin } from '../src/origin.ts';
import { ROUTING_FILE, type Routes, readRoutes, serviceFor } from '../src/routes.ts';

const routes: Routes = [
  { methods: ['POST'], prefix: '/v1/events', service: 'ingest' },
  { methods: ['*'], prefix: '/', service: 'projection' },
];
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Answer = (incoming: IncomingMessage, response: ServerResponse) => unknown;

async function listening(answer: Answer): Promise<number> {
  const server: Server = createServer((incoming, response) => void answer(incoming, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function optionsOver(ports: Record<string, number>): OriginOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    nextPorts: 0,
    routes,
    addressOf: (service) => {
      const port = ports[service];
      return port === undefined ? undefined : { host: '127.0.0.1', port };
    },
    tellCaller: false,
    withheld: [],
  };
}

async function originBefore(ports: Record<string, number>, more: Partial<OriginOptions> = {}): Promise<Origin> {
  const origin = await openOrigin({ ...optionsOver(ports), ...more });
  ends.unshift(() => origin.close());
  return origin;
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of message) body += String(chunk);
  return body;
}

test('the routing file of the deployment sends events to ingest and all else to projection', () => {
  const real = readRoutes(ROUTING_FILE);
  expect(serviceFor(real, 'POST', '/v1/events')).toBe('ingest');
  expect(serviceFor(real, 'POST', '/v1/events?source=x')).toBe('ingest');
  expect(serviceFor(real, 'GET', '/v1/events')).toBe('projection');
  expect(serviceFor(real, 'POST', '/v1/eventsource')).toBe('projection');
  expect(serviceFor(real, 'GET', '/')).toBe('projection');
});

test('a request arrives as it was sent, but for the headers of the one connection', async () => {
  let seen: IncomingMessage | undefined;
  const port = await listening(async (incoming, response) => {
    seen = incoming;
    response.writeHead(201, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end(await bodyOf(incoming));
  });
  const origin = await originBefore({ ingest: port });
  const outgoing = request({
    port: origin.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/events?x=%20y',
    headers: {
      host: 'headway.example',
      connection: 'close, x-hop',
      'x-hop': '1',
      'x-forwarded-for': '6.6.6.6',
      'x-end': '2',
    },
  });
  outgoing.end('the body');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await bodyOf(answer)).toBe('the body');
  expect(answer.statusCode).toBe(201);
  expect(answer.headers).toMatchObject({ 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] });
  expect(seen?.url).toBe('/v1/events?x=%20y');
  expect(seen?.headers).toMatchObject({ host: 'headway.example', 'x-end': '2', 'x-forwarded-for': '6.6.6.6' });
  expect(seen?.headers['x-hop']).toBeUndefined();
});

test('server-sent events come through as they are sent, and the service learns that the reader left', async () => {
  let left: Promise<unknown> | undefined;
  const port = await listening((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\n\n');
    left = once(response, 'close');
  });
  const origin = await originBefore({ projection: port });
  const reading = new AbortController();
  const response = await fetch(`http://127.0.0.1:${origin.port}/v1/stream`, { signal: reading.signal });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe('data: first\n\n');
  reading.abort();
  await left;
});

test('a body without a length is passed on while it is still being sent', async () => {
  const parts: string[] = [];
  let arrived: () => void = () => {};
  const firstPart = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const port = await listening(async (incoming, response) => {
    for await (const part of incoming) {
      parts.push(String(part));
      arrived();
    }
    response.end(parts.join('|'));
  });
  const origin = await originBefore({ ingest: port });
  const outgoing = request({ port: origin.port, host: '127.0.0.1', method: 'POST', path: '/v1/events' });
  outgoing.write('one');
  await firstPart;
  outgoing.end('two');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await bodyOf(answer)).toBe('one|two');
});

test('a service that does not run is answered for with 503, one that breaks off with 502, as problem details', async () => {
  const breaking = await listening((incoming) => void incoming.socket.destroy());
  const origin = await originBefore({ projection: breaking });
  const down = await fetch(`http://127.0.0.1:${origin.port}/v1/events`, { method: 'POST', body: 'x' });
  expect(down.status).toBe(503);
  expect(down.headers.get('content-type')).toBe('application/problem+json');
  expect(await down.json()).toMatchObject({ status: 503, code: 'service_unavailable' });
  const broken = await fetch(`http://127.0.0.1:${origin.port}/`);
  expect(broken.status).toBe(502);
  expect(await broken.json()).toMatchObject({
    status: 502,
    code: 'service_broke_off',
    detail: expect.stringContaining('projection'),
  });
});

test('an answer that breaks off in the middle breaks off for the client too', async () => {
  const port = await listening((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('part', () => response.destroy());
  });
  const origin = await originBefore({ projection: port });
  const response = await fetch(`http://127.0.0.1:${origin.port}/`);
  await expect(response.text()).rejects.toThrow();
});

test('one connection serves several requests', async () => {
  const port = await listening((incoming, response) => response.end(incoming.url));
  const origin = await originBefore({ projection: port });
  const socket = connect(origin.port, '127.0.0.1');
  ends.unshift(async () => socket.destroy());
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  socket.write('GET /one HTTP/1.1\r\nhost: x\r\n\r\nGET /two HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await once(socket, 'end');
  expect(answer).toContain('/one');
  expect(answer).toContain('/two');
});

test('a default port that is taken gives way to the next free one; one asked for by name does not', async () => {
  const first = await originBefore({});
  const second = await originBefore({}, { port: first.port, nextPorts: 50 });
  expect(second.port).toBeGreaterThan(first.port);
  await expect(originBefore({}, { port: first.port })).rejects.toThrow(`port ${first.port} of 127.0.0.1 is taken`);
});

test('a gateway says who called, so that nobody behind it takes the caller for one of its own machine', async () => {
  const seen: unknown[] = [];
  const port = await listening((incoming, response) => {
    seen.push(incoming.headers['x-forwarded-for']);
    response.end();
  });
  const { port: at } = await originBefore({ projection: port }, { tellCaller: true });
  await fetch(`http://127.0.0.1:${at}/`);
  await fetch(`http://127.0.0.1:${at}/`, { headers: { 'x-forwarded-for': '6.6.6.6' } });
  expect(seen).toEqual(['127.0.0.1', '6.6.6.6, 127.0.0.1']);
});

test('what is withheld is reached in no spelling of its path', async () => {
  const asked: unknown[] = [];
  const port = await listening((incoming, response) => {
    asked.push(incoming.url);
    response.end();
  });
  const { port: at } = await originBefore({ projection: port }, { withheld: ['/metrics'] });
  const spellings = ['/metrics', '/metrics?x=1', '/metrics/', '/metrics/all', '/%6Detrics', '/metric%73', '//metrics'];
  for (const path of [...spellings, '/METRICS', '/metrics;x', '/a/../metrics', '/./metrics', '/metrics#x']) {
    const outgoing = request({ port: at, host: '127.0.0.1', path });
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect([path, answer.statusCode]).toEqual([path, 404]);
  }
  expect(asked).toEqual([]);
  expect((await fetch(`http://127.0.0.1:${at}/metricsandmore`)).status).toBe(200);
});

test('a service whose host is not there counts as one that does not run', async () => {
  const nobody = { host: 'no-such-service.invalid', port: 1 };
  const { port: at } = await originBefore({}, { addressOf: () => nobody });
  expect((await fetch(`http://127.0.0.1:${at}/`)).status).toBe(503);
});

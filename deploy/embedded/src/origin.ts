import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem } from '@headway/contracts';
import { type Routes, serviceFor } from './routes.ts';
import { StartError } from './terminal.ts';

/** How many ports after the default one are tried. */
const NEXT_PORTS = 100;

/** Headers that concern one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name)));
}

type OriginProblem = 'not_found' | 'service_unavailable' | 'service_broke_off';

function refuse(response: ServerResponse, code: OriginProblem, detail: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const told = problem(code, detail);
  const body = JSON.stringify(told);
  response.writeHead(told.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(code === 'not_found' ? {} : { 'retry-after': '1' }),
  });
  response.end(body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Sends a request on to a port and its answer back, both as streams, so that neither is ever held whole. */
function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  agent: Agent,
  port: number,
  service: string,
): void {
  const headers = endToEnd(incoming.headers);
  // Nothing is said of the caller here: the origin listens on loopback only, as the services do, so a caller without a
  // token is one of this machine either way. A header of a proxy in front of the origin stays, and then a token is needed.
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port,
    agent,
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers,
    setHost: false,
  });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', endToEnd(answer.headers));
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // A kept connection may be closed by the service just as it is used again; nothing was answered, so the request may be repeated.
    const repeatable = outgoing.reusedSocket && error.code === 'ECONNRESET' && !hasBody(incoming);
    if (repeatable && !response.headersSent && !response.destroyed && isSafe(incoming.method)) {
      forward(incoming, response, agent, port, service);
      return;
    }
    refuse(response, 'service_broke_off', `${service} did not answer (${error.code ?? error.message}). Try again.`);
  });
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  incoming.on('error', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function isSafe(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

export interface Origin {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * One HTTP address for all services. It is written by hand on node:http, since all it has to do is to pass streams through: a request
 * for a service that is down is answered with 503, one that broke off with 502, as problem details.
 * @param portOf where a service listens now; undefined while it is down
 */
export async function openOrigin(
  wanted: { number: number; byName: boolean },
  routes: Routes,
  portOf: (service: string) => number | undefined,
): Promise<Origin> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    const service = serviceFor(routes, incoming.method ?? 'GET', incoming.url ?? '/');
    if (service === undefined) return refuse(response, 'not_found', 'No service answers this method and path.');
    const port = portOf(service);
    if (port === undefined)
      return refuse(response, 'service_unavailable', `${service} is not running. It is started again; try again.`);
    forward(incoming, response, agent, port, service);
  });
  // A stream of server-sent events has no end that a timeout could wait for.
  server.requestTimeout = 0;
  const port = await listen(server, wanted);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

function tryPort(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const taken = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else
        reject(
          new StartError(`port ${port} of 127.0.0.1 cannot be used: ${error.message}. Set HEADWAY_PORT to another.`),
        );
    };
    server.once('error', taken);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', taken);
      resolve(true);
    });
  });
}

async function listen(server: Server, wanted: { number: number; byName: boolean }): Promise<number> {
  const most = wanted.byName ? 1 : NEXT_PORTS;
  for (let next = 0; next < most; next++) {
    if (await tryPort(server, wanted.number + next)) return (server.address() as AddressInfo).port;
  }
  throw new StartError(
    wanted.byName
      ? `port ${wanted.number} of 127.0.0.1 is taken. Stop what listens there, or set HEADWAY_PORT to another port.`
      : `none of the ports ${wanted.number} to ${wanted.number + most - 1} is free. Set HEADWAY_PORT to a free port.`,
  );
}

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
import { isBelow, type Routes, serviceFor } from './routes.ts';

/** Connections at once; more are refused until one ends. */
const MAX_CONNECTIONS = 4_096;

/** What the system says where nothing listens at an address, or no host has the name. */
const NOBODY_THERE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/** Where a service listens. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

export interface OriginOptions {
  /** The address to listen on. */
  readonly host: string;
  readonly port: number;
  /** How many ports after that one are tried where it is taken. */
  readonly nextPorts: number;
  readonly routes: Routes;
  /** Where a service listens now; undefined while it is down. */
  readonly addressOf: (service: string) => ServiceAddress | undefined;
  /** Whether the service is told who called, in `X-Forwarded-For`; a caller without a token is then never one of its own machine. */
  readonly tellCaller: boolean;
  /** Paths that no caller gets at, whatever the routes say. */
  readonly withheld: readonly string[];
}

/** The address cannot be listened on. The message says why, for a person who set it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

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

interface Forwarding {
  readonly agent: Agent;
  readonly address: ServiceAddress;
  readonly service: string;
  readonly tellCaller: boolean;
}

/** Sends a request on to a service and its answer back, both as streams, so that neither is ever held whole. */
function forward(incoming: IncomingMessage, response: ServerResponse, forwarding: Forwarding): void {
  const { agent, address, service } = forwarding;
  const headers = endToEnd(incoming.headers);
  // A header of a proxy in front of the origin stays.
  if (forwarding.tellCaller)
    headers['x-forwarded-for'] = [incoming.headers['x-forwarded-for'] ?? [], incoming.socket.remoteAddress ?? 'unknown']
      .flat()
      .join(', ');
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  const outgoing = httpRequest({
    ...address,
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
      forward(incoming, response, forwarding);
      return;
    }
    if (NOBODY_THERE.has(error.code ?? '')) return refuse(response, 'service_unavailable', notRunning(service));
    refuse(response, 'service_broke_off', `${service} did not answer (${error.code ?? error.message}). Try again.`);
  });
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  incoming.on('error', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

const notRunning = (service: string): string => `${service} is not running. It is started again; try again.`;

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
 * @throws {ListenError}
 */
export async function openOrigin(options: OriginOptions): Promise<Origin> {
  const { routes, addressOf, tellCaller, withheld } = options;
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    const target = incoming.url ?? '/';
    const service = isBelow(target, withheld) ? undefined : serviceFor(routes, incoming.method ?? 'GET', target);
    if (service === undefined) return refuse(response, 'not_found', 'No service answers this method and path.');
    const address = addressOf(service);
    if (address === undefined) return refuse(response, 'service_unavailable', notRunning(service));
    forward(incoming, response, { agent, address, service, tellCaller });
  });
  server.maxConnections = MAX_CONNECTIONS;
  // A stream of server-sent events has no end that a timeout could wait for.
  server.requestTimeout = 0;
  const port = await listen(server, options);
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

/** Whether it listens now; false where the port is taken. */
function tryPort(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const taken = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else
        reject(
          new ListenError(`port ${port} of ${host} cannot be used: ${error.message}. Set HEADWAY_PORT to another.`),
        );
    };
    server.once('error', taken);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', taken);
      resolve(true);
    });
  });
}

async function listen(server: Server, { host, port, nextPorts }: OriginOptions): Promise<number> {
  for (let next = 0; next <= nextPorts; next++) {
    if (await tryPort(server, host, port + next)) return (server.address() as AddressInfo).port;
  }
  throw new ListenError(
    nextPorts === 0
      ? `port ${port} of ${host} is taken. Stop what listens there, or set HEADWAY_PORT to another port.`
      : `none of the ports ${port} to ${port + nextPorts} is free. Set HEADWAY_PORT to a free port.`,
  );
}

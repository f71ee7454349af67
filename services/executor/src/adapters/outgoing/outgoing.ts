import { lookup as systemLookup } from 'node:dns';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import type { BrokenAt } from '@headway/effects';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { mayDial } from './addresses.ts';

/** What is read of an answer's body at most, in bytes. */
export const ANSWER_BYTES = 256 * 1024;
const HEADER_BYTES = 16 * 1024;
const CONNECT_MS = 10_000;

export interface OutgoingRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Private addresses that may be called. */
  readonly allowed: BlockList;
  /** Aborts when the time is over: the socket is destroyed. */
  readonly signal: AbortSignal;
  /** How names are looked up; the system's way by default. */
  readonly lookup?: typeof systemLookup;
}

export type OutgoingAnswer =
  | {
      readonly came: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Buffer;
    }
  | { readonly came: 'broken'; readonly at: BrokenAt; readonly reason: string };

/** The name, or the address, leads to where nothing may be sent. */
class MayNotDial extends Error {
  override readonly name = 'MayNotDial';
}

/**
 * Sends one request over a connection of its own and reads its whole answer. Never repeats, never follows a redirect. Every
 * address is checked as the connection is made to it, so a name that resolves differently at that time gains nothing.
 */
export async function sendOnce(request: OutgoingRequest): Promise<OutgoingAnswer> {
  const progress: { at: BrokenAt } = { at: 'lookup' };
  const client = new Client(request.url.origin, {
    connect: guardedConnector(request, progress),
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES,
    // The one time that counts is the caller's.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const response = await client.request({
      path: `${request.url.pathname}${request.url.search}`,
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
      signal: request.signal,
    });
    const body = await readBody(response.body);
    if (body === null) return { came: 'broken', at: 'written', reason: `the answer is above ${ANSWER_BYTES} bytes` };
    return { came: 'answer', status: response.statusCode, headers: response.headers, body };
  } catch (error) {
    const reason = request.signal.aborted ? 'no complete answer in time' : reasonOf(error);
    return { came: 'broken', at: progress.at, reason };
  } finally {
    client.destroy().catch(() => {});
  }
}

function guardedConnector({ allowed, lookup = systemLookup }: OutgoingRequest, progress: { at: BrokenAt }) {
  const guardedLookup: LookupFunction = (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '');
      const found = addresses as unknown as { address: string; family: number }[];
      const refused = found.find(({ address }) => !mayDial(address, allowed));
      const [first] = found;
      if (refused !== undefined || first === undefined)
        return done(
          new MayNotDial(`${hostname} resolves to ${refused?.address ?? 'nothing'}, which may not be called`),
          '',
        );
      progress.at = 'connect';
      if (options.all === true) return (done as unknown as (error: null, all: typeof found) => void)(null, found);
      return done(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: guardedLookup, allowH2: false, maxCachedSessions: 0 });
  return (options: buildConnector.Options, done: buildConnector.Callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // An address is dialled as it stands, without any look-up.
    if (isIP(host) !== 0) {
      if (!mayDial(host, allowed)) return done(new MayNotDial(`${host} may not be called`), null);
      progress.at = 'connect';
    }
    return connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null) {
        if (options.protocol === 'https:' && progress.at === 'connect' && !isConnectError(error)) progress.at = 'tls';
        return done(error, null);
      }
      const peer = socket?.remoteAddress;
      if (peer === undefined || !mayDial(peer, allowed)) {
        socket?.destroy();
        return done(new MayNotDial(`${peer ?? 'an unknown address'} may not be called`), null);
      }
      progress.at = 'written';
      return done(null, socket);
    });
  };
}

const isConnectError = (error: Error): boolean =>
  /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(
    (error as NodeJS.ErrnoException).code ?? '',
  );

/** The whole body, or `null` where it is larger than what is read. A body that breaks off throws. */
async function readBody(stream: Dispatcher.ResponseData['body']): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code)
    ? error.message || code || error.name
    : `${code} ${error.message}`;
}

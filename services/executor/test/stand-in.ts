import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the stand-in does with the next requests. Times in milliseconds. */
export interface StandInFaults {
  /** Closes the connection after the effect, before any byte of the answer. */
  cutAfterEffect?: boolean;
  /** Reads the request and does nothing more. */
  silent?: boolean;
  /** Answers with this status, without the effect. */
  status?: number;
  /** Waits before the effect. */
  beforeEffectMs?: number;
  /** Waits between the effect and the answer. */
  beforeAnswerMs?: number;
  /** Answers in its own way after the effect. */
  answer?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A target that honours idempotency keys, counts effects, and fails on demand. On loopback. */
export interface StandIn {
  readonly origin: string;
  /** Effects by key of the request. */
  readonly effects: Map<string, number>;
  /** Requests that arrived, those without an effect too. */
  requests: number;
  faults: StandInFaults;
  totalEffects(): number;
  stop(): Promise<void>;
}

const BODY_BYTES = 16 * 1024 * 1024;
const wait = (ms: number | undefined) =>
  ms === undefined ? undefined : new Promise((resolve) => setTimeout(resolve, ms));

export async function startStandIn({ honoursKeys = true } = {}): Promise<StandIn> {
  const remembered = new Map<string, string>();
  let unkeyed = 0;
  const standIn = {
    effects: new Map<string, number>(),
    requests: 0,
    faults: {} as StandInFaults,
    totalEffects: () => [...standIn.effects.values()].reduce((sum, count) => sum + count, 0),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    standIn.requests += 1;
    const { faults } = standIn;
    const body = await readBody(request);
    if (faults.silent === true) return;
    await wait(faults.beforeEffectMs);
    if (faults.status !== undefined) {
      response.writeHead(faults.status, { 'content-type': 'application/json', location: '/elsewhere' }).end('{}');
      return;
    }
    const key = honoursKeys ? request.headers['idempotency-key'] : undefined;
    const known = typeof key === 'string' ? remembered.get(key) : undefined;
    let text = known;
    if (text === undefined) {
      unkeyed += 1;
      const name = typeof key === 'string' ? key : `request ${unkeyed}`;
      standIn.effects.set(name, (standIn.effects.get(name) ?? 0) + 1);
      text = JSON.stringify({ number: unkeyed, body });
      if (typeof key === 'string') remembered.set(key, text);
    }
    if (faults.cutAfterEffect === true) {
      request.socket.destroy();
      return;
    }
    await wait(faults.beforeAnswerMs);
    if (faults.answer !== undefined) faults.answer(request, response);
    else response.writeHead(201, { 'content-type': 'application/json' }).end(text);
  }

  const server = createServer((request, response) => {
    request.on('error', () => {});
    response.on('error', () => {});
    void answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(standIn, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES) throw new Error('too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

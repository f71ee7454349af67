import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '@headway/testkit';
import { describe, expect, it } from 'vitest';
import { createWebhookAdapter } from '../../src/adapters/webhook.ts';
import { describeAdapter } from './conformance.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that takes whatever comes, as often as it comes. */
async function startReceiver() {
  const deliveries: Delivery[] = [];
  const faults: { cut?: boolean; silent?: boolean; status?: number; text?: string; endless?: boolean } = {};
  const written = { bytes: 0 };
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (faults.silent) return;
    if (faults.status !== undefined) {
      response.writeHead(faults.status, { location: '/elsewhere' }).end(faults.text ?? '');
      return;
    }
    deliveries.push({ headers: request.headers, body });
    if (faults.cut) request.socket.destroy();
    else if (faults.endless) pour(response.writeHead(200), written);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hook = { name: 'chat', url: `http://127.0.0.1:${port}/hook`, secret: SECRET, privateAddresses: ['127.0.0.1'] };
  return {
    deliveries,
    faults,
    written,
    hook,
    heal: () => {
      for (const name of Object.keys(faults)) delete faults[name as keyof typeof faults];
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const TEN_GIB = 10 * 1024 ** 3;

/** Writes on and on, as fast as it is read. */
function pour(response: import('node:http').ServerResponse, written: { bytes: number }): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const more = () => {
    while (!response.destroyed && written.bytes < TEN_GIB) {
      written.bytes += chunk.byteLength;
      if (!response.write(chunk)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

describeAdapter('webhook', { class: 'N', never: ['observer-down'], unobservable: true }, async () => {
  const receiver = await startReceiver();
  const deaf = { ...receiver.hook, name: 'deaf', url: `http://127.0.0.1:${await freePort()}/` };
  let hook = 'chat';
  let number = 0;
  return {
    adapter: createWebhookAdapter({ hooks: [receiver.hook, deaf], timeoutMs: 3_000 }) as never,
    fresh: () => {
      number += 1;
      return { target: hook, inputs: { type: 'finding.published', data: { number } } };
    },
    effects: async ({ inputs }) => receiver.deliveries.filter(({ body }) => body === JSON.stringify(inputs)).length,
    malformed: [
      { request: { target: 'https://example.org/', inputs: { type: 'a', data: 1 } }, pointer: '/target' },
      { request: { target: 'chat', inputs: { type: 'A b', data: 1 } }, pointer: '/inputs/type' },
      { request: { target: 'chat', inputs: { type: 'a', data: 1, url: 'https://example.org' } }, pointer: '/inputs' },
    ],
    faults: {
      unreachable: () => {
        hook = 'deaf';
      },
      'answer-lost': () => {
        receiver.faults.cut = true;
      },
      silent: () => {
        receiver.faults.silent = true;
      },
      refuses: () => {
        receiver.faults.status = 422;
      },
    },
    heal: () => {
      receiver.heal();
      hook = 'chat';
    },
    stop: receiver.stop,
  };
});

describe('webhook', () => {
  async function deliver(
    arrange: (receiver: Awaited<ReturnType<typeof startReceiver>>) => { privateAddresses?: string[] },
  ) {
    const receiver = await startReceiver();
    const hook = { ...receiver.hook, ...arrange(receiver) };
    const adapter = createWebhookAdapter({ hooks: [hook], timeoutMs: 3_000 }, { nowSeconds: () => 1_750_000_000 });
    const prepared = adapter.prepare({ target: 'chat', inputs: { type: 'a.b', data: { text: 'hello' } } });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const signal = AbortSignal.timeout(3_000);
    const attempt = { operation: 'a'.repeat(64), tenant: 'default', plan, epoch: 1, attempt: 1, signal };
    const answer = await adapter.send(attempt);
    await receiver.stop();
    return { answer, receiver };
  }

  it('signs what it sends, so that the receiver can tell who it is from', async () => {
    const { receiver } = await deliver(() => ({}));
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.deliveries;
    expect(headers['webhook-id']).toBe('a'.repeat(64));
    const signed = `${'a'.repeat(64)}.1750000000.${body}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`);
  });

  it('follows no redirect, and keeps no word of the receiver', async () => {
    const { answer, receiver } = await deliver(({ faults }) => {
      Object.assign(faults, { status: 302, text: SECRET });
      return {};
    });
    expect(answer).toEqual({ answer: 'uncertain', reason: 'the receiver answered 302' });
    expect(receiver.deliveries).toEqual([]);
  });

  it('sends nothing to a private address that is not allowed', async () => {
    const { answer, receiver } = await deliver(() => ({ privateAddresses: [] }));
    expect(answer.answer).toBe('not-sent');
    expect(receiver.deliveries).toEqual([]);
  });

  it('stops reading an answer of 10 GiB soon after its limit', async () => {
    const { answer, receiver } = await deliver(({ faults }) => {
      faults.endless = true;
      return {};
    });
    expect(answer).toMatchObject({ answer: 'uncertain', reason: expect.stringContaining('above') });
    // The limit, and what the sockets of both sides hold.
    expect(receiver.written.bytes).toBeLessThan(64 * 1024 * 1024);
  });
});

import { type AddressInfo, createServer, connect as dial } from 'node:net';
import { freePort, openForeignStreams, startNats } from '@headway/testkit';
import { describe, expect, it } from 'vitest';
import { createNatsPublishAdapter } from '../../src/adapters/nats-publish.ts';
import { describeAdapter } from './conformance.ts';

const WINDOW_SECONDS = 60;

/** A bus of its own with one stream, and a proxy before it that swallows messages or their answers. */
async function startBus() {
  const nats = await startNats({ own: true });
  const streams = await openForeignStreams(nats.url);
  await streams.add('NOTES', 'notes.>', WINDOW_SECONDS);
  await streams.add('OTHER', 'other.>', WINDOW_SECONDS);
  const fault: { swallow: 'nothing' | 'messages' | 'answers' } = { swallow: 'nothing' };
  const { hostname, port } = new URL(nats.url);
  const proxy = createServer((client) => {
    const server = dial(Number(port), hostname);
    let published = false;
    for (const socket of [client, server]) socket.on('error', () => {});
    client
      .on('close', () => server.destroy())
      .on('data', (chunk) => {
        published ||= chunk.includes('HPUB notes.');
        if (!published || fault.swallow !== 'messages') server.write(chunk);
      });
    server
      .on('close', () => client.destroy())
      .on('data', (chunk) => {
        if (!published || fault.swallow === 'nothing') client.write(chunk);
      });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `nats://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    fault,
    listed: { name: 'main', url, stream: 'NOTES', subjects: ['notes', 'other'] },
    stored: (subject: string) => streams.stored('NOTES', subject),
    stop: async () => {
      await streams.close();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
      await nats.stop();
    },
  };
}

const bounds = { timeoutMs: 1_500, duplicateWindowSeconds: WINDOW_SECONDS, processingSeconds: 1 };

describeAdapter('nats.publish', { class: 'K', never: ['observer-down'], unobservable: true }, async () => {
  const bus = await startBus();
  const deaf = { ...bus.listed, name: 'deaf', url: `nats://127.0.0.1:${await freePort()}` };
  let prefix = 'main/notes';
  let number = 0;
  const bad = (target: string) => ({ request: { target, inputs: { json: 1 } }, pointer: '/target' });
  return {
    adapter: createNatsPublishAdapter({ buses: [bus.listed, deaf], ...bounds }) as never,
    fresh: () => {
      number += 1;
      return { target: `${prefix}.n${number}`, inputs: { json: { number } } };
    },
    effects: ({ target }) => bus.stored(target.slice(target.indexOf('/') + 1)),
    malformed: [
      ...[
        'other-bus/notes.x',
        'main',
        'main/notes',
        'main/notes.>',
        'main/notes.*',
        'main/$JS.API.STREAM.DELETE.NOTES',
      ].map(bad),
      ...['main/notes.a b', 'main/notes..x', 'main/notes.x\r\nPUB x 0'].map(bad),
      { request: { target: 'main/notes.x', inputs: { json: 1, headers: {} } }, pointer: '/inputs' },
    ],
    faults: {
      unreachable: () => {
        prefix = 'deaf/notes';
      },
      'answer-lost': () => {
        bus.fault.swallow = 'answers';
      },
      silent: () => {
        bus.fault.swallow = 'messages';
      },
      // Another stream takes it than the one that was expected.
      refuses: () => {
        prefix = 'main/other';
      },
    },
    heal: () => {
      bus.fault.swallow = 'nothing';
      prefix = 'main/notes';
    },
    stop: bus.stop,
  };
});

describe('nats.publish', () => {
  it('sends nothing to a stream that remembers ids for less than is declared', async () => {
    const bus = await startBus();
    const adapter = createNatsPublishAdapter({
      buses: [bus.listed],
      ...bounds,
      duplicateWindowSeconds: WINDOW_SECONDS + 1,
    });
    const prepared = adapter.prepare({ target: 'main/notes.x', inputs: { json: 1 } });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const signal = AbortSignal.timeout(4_000);
    const attempt = { operation: 'a'.repeat(64), tenant: 'default', plan, epoch: 1, attempt: 1, signal };
    expect(await adapter.send(attempt)).toMatchObject({ answer: 'refused', reason: expect.stringContaining('60 s') });
    expect(await bus.stored('notes.x')).toBe(0);
    await bus.stop();
  });
});

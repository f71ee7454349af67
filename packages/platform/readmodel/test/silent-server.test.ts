import { connect, createServer, type Socket } from 'node:net';
import { isStoreAway, migrate, openReadModel } from '@headway/readmodel';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Passes bytes on until it falls silent, as a network does that drops everything. */
async function silencingProxy(target: URL) {
  const sockets = new Set<Socket>();
  let silent = false;
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.on('data', (bytes) => silent || far.write(bytes));
    far.on('data', (bytes) => silent || near.write(bytes));
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return {
    url: url.href,
    silence: (on: boolean) => {
      silent = on;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

test('a server that falls silent is told as away within a limit, and used again once it speaks', async () => {
  const database = await server.createDatabase();
  await migrate(database);
  const proxy = await silencingProxy(new URL(database));
  const model = openReadModel({ url: proxy.url, connections: 1, silenceMs: 300 });
  try {
    await model.ping();
    proxy.silence(true);
    const refusal = await model.ping().then(
      () => null,
      (error: unknown) => error,
    );
    expect(isStoreAway(refusal)).toBe(true);
    proxy.silence(false);
    await model.ping();
  } finally {
    proxy.close();
    await model.close();
  }
});

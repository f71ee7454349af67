import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can lose answers: once a client's bytes hold `after`, nothing of the server reaches it any more. */
export interface CuttingProxy {
  readonly port: number;
  /** `null` = everything passes. */
  loseAnswersAfter: string | null;
  /** Takes bytes of clients and passes nothing on. */
  swallow: boolean;
  /** Closes its door: connections are refused. */
  close(): Promise<void>;
}

const CUT_AFTER_MS = 100;

export async function startCuttingProxy(to: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const proxy = { loseAnswersAfter: null as string | null, swallow: false };
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    let losing = false;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (proxy.swallow && proxy.loseAnswersAfter !== null && bytes.includes(proxy.loseAnswersAfter)) return;
      if (proxy.loseAnswersAfter !== null && bytes.includes(proxy.loseAnswersAfter) && !losing) {
        losing = true;
        setTimeout(() => client.destroy(), CUT_AFTER_MS);
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!losing) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(proxy, {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  });
}

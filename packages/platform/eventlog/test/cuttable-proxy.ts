import net from 'node:net';

export interface CuttableProxy {
  readonly port: number;
  /** Cuts all connections, whatever is under way. New ones get through, whole again. */
  cut(): void;
  /** From now on the client hears nothing; answers how many bytes it missed. */
  swallowAnswers(): () => number;
  /** Cuts, and lets nobody in until told otherwise. */
  refuse(refusing: boolean): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback before a server on loopback. */
export async function startProxy(target: number): Promise<CuttableProxy> {
  const sockets = new Set<net.Socket>();
  let swallowing = false;
  let swallowed = 0;
  let refused = false;
  const proxy = net.createServer((client) => {
    if (refused) return void client.destroy();
    const server = net.connect(target, '127.0.0.1');
    for (const [socket, peer] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
    }
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => {
      if (swallowing) swallowed += chunk.length;
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    swallowing = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (proxy.address() as net.AddressInfo).port,
    cut,
    swallowAnswers() {
      swallowing = true;
      swallowed = 0;
      return () => swallowed;
    },
    refuse(refusing) {
      refused = refusing;
      if (refusing) cut();
    },
    close() {
      cut();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}

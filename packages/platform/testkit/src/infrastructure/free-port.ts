import net from 'node:net';

const PORT_ATTEMPTS = 5;
/** How nats-server, Postgres and Docker say that another process has the port. */
const PORT_IS_TAKEN = /address already in use|port is already allocated/i;

/** A TCP port on 127.0.0.1 that was free a moment ago. Another process may take it first: be ready to ask again. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Starts a server on a free port, and on another one when that was taken meanwhile. */
export async function onFreePort<Server>(
  start: (port: number) => Promise<Server>,
): Promise<{ readonly port: number; readonly server: Server }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { port, server: await start(port) };
    } catch (error) {
      if (attempt >= PORT_ATTEMPTS || !PORT_IS_TAKEN.test(String(error))) throw error;
    }
  }
}

import net from 'node:net';

const GREETING_WITHIN_MS = 1_000;

export interface NatsGreeting {
  readonly version?: string;
  readonly jetstream?: boolean;
}

/** The INFO that a NATS server sends to each new connection. */
export function greetingOf(host: string, port: number): Promise<NatsGreeting> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, host);
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(GREETING_WITHIN_MS, () => socket.destroy(new Error('no greeting')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed before the greeting')));
    socket.on('data', (chunk) => {
      text += chunk;
      const info = /^INFO (.*)\r\n/.exec(text)?.[1];
      if (info === undefined) return;
      resolve(JSON.parse(info));
      socket.destroy();
    });
  });
}

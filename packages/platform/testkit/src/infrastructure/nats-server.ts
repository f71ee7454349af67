import { rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { borrowNats } from './borrowed-nats.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { findNatsServer, isAtLeast, versionOfNatsServer } from './nats-binary.ts';
import { scratchFolder, sweepScratch } from './scratch.ts';

export interface NatsOptions {
  /** Ask for a server of one's own, which may be killed, though the environment names a running one. */
  readonly own?: boolean;
  /** `always` (where the server knows it: 2.10 and newer) waits for the disk at each write. Default `always`. */
  readonly sync?: 'always' | 'interval';
}

export interface TestNats {
  readonly url: string;
  readonly version: string;
  /** Whether each acknowledged message was synced to disk first. */
  readonly sync: 'always' | 'interval' | 'unknown';
  /** Of the running server; 0 where it is not ours. */
  readonly pid: number;
  /** `null` where the server is not ours. */
  readonly dataDir: string | null;
  /** Ends the server in good order, and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL. Data stays, for {@link TestNats.restart}. Throws where the server is not ours. */
  kill9(): Promise<void>;
  /** Starts it again at the same address over the same data, after ending it in good order if it runs. */
  restart(): Promise<void>;
}

/** The largest message the server takes, in bytes. */
const MAX_PAYLOAD = 8 * 1024 * 1024;
const PORT_ATTEMPTS = 5;
const READY_WITHIN_MS = 20_000;

/**
 * A NATS server with JetStream, without our streams: the one of `HEADWAY_TEST_NATS_URL`, or else a local binary on
 * loopback with a fresh data folder.
 */
export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const running = process.env.HEADWAY_TEST_NATS_URL;
  if (running !== undefined && running !== '' && options.own !== true) return borrowNats(running);
  sweepScratch();
  const binary = findNatsServer();
  const version = versionOfNatsServer(binary);
  const sync = options.sync !== 'interval' && isAtLeast(version, '2.10.0') ? 'always' : 'interval';
  const dataDir = scratchFolder('nats');
  const start = (port: number) => launch(binary, writeConfig(dataDir, port, sync), dataDir, port);

  let port = await freePort();
  let server = await start(port).catch(async (error) => {
    for (let attempt = 1; ; attempt += 1) {
      if (attempt >= PORT_ATTEMPTS || !/address already in use/.test(String(error))) throw error;
      port = await freePort();
      try {
        return await start(port);
      } catch (again) {
        error = again;
      }
    }
  });
  const end = async (signal: NodeJS.Signals) => {
    server.signal(signal);
    await server.ended;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    version,
    sync,
    dataDir,
    get pid() {
      return server.pid;
    },
    async stop() {
      await end('SIGTERM');
      rmSync(dataDir, { recursive: true, force: true });
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      server = await start(port);
    },
  };
}

function writeConfig(dataDir: string, port: number, sync: 'always' | 'interval'): string {
  const file = path.join(dataDir, 'nats-server.conf');
  writeFileSync(
    file,
    [
      'host: 127.0.0.1',
      `port: ${port}`,
      `server_name: "headway_test_${port}"`,
      `max_payload: ${MAX_PAYLOAD}`,
      'jetstream {',
      `  store_dir: ${JSON.stringify(path.join(dataDir, 'store'))}`,
      ...(sync === 'always' ? ['  sync_interval: always'] : []),
      '}',
      '',
    ].join('\n'),
  );
  return file;
}

async function launch(binary: string, config: string, dataDir: string, port: number): Promise<GuardedProcess> {
  const server = await startGuarded({ command: binary, args: ['-c', config], cwd: dataDir });
  try {
    await eventually(
      async () => {
        if (!server.running) return 'ended';
        return (await greeting(port)).jetstream === true && 'ready';
      },
      { within: READY_WITHIN_MS, what: 'nats-server being ready' },
    );
    if (!server.running) throw new Error('nats-server ended before it was ready');
    return server;
  } catch (cause) {
    server.signal('SIGKILL');
    throw new Error(`nats-server did not start on port ${port}:\n${server.output()}`, { cause });
  }
}

/** The INFO that a NATS server sends to each new connection. */
function greeting(port: number): Promise<{ jetstream?: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(1_000, () => socket.destroy(new Error('no greeting')));
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

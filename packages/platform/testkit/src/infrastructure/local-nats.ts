import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from './eventually.ts';
import { onFreePort } from './free-port.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { findNatsServer, isAtLeast, versionOfNatsServer } from './nats-binary.ts';
import { greetingOf } from './nats-greeting.ts';
import { scratchFolder, sweepScratch } from './scratch.ts';
import { type NatsOptions, natsConfig, type TestNats } from './test-nats.ts';

const LOOPBACK = '127.0.0.1';
const READY_WITHIN_MS = 20_000;

/** A local nats-server on loopback with a fresh data folder. */
export async function startLocalNats(options: NatsOptions): Promise<TestNats> {
  sweepScratch();
  const binary = findNatsServer();
  const version = versionOfNatsServer(binary);
  const sync = options.sync !== 'interval' && isAtLeast(version, '2.10.0') ? 'always' : 'interval';
  const dataDir = scratchFolder('nats');
  const start = (atPort: number) =>
    launch(binary, writeConfig(dataDir, atPort, sync, options.configuration), dataDir, atPort);

  const first = await onFreePort(start);
  const { port } = first;
  let { server } = first;
  const end = async (signal: NodeJS.Signals) => {
    server.signal(signal);
    await server.ended;
  };
  return {
    url: `nats://${LOOPBACK}:${port}`,
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

function writeConfig(dataDir: string, port: number, sync: 'always' | 'interval', more?: string): string {
  const file = path.join(dataDir, 'nats-server.conf');
  const storeDir = path.join(dataDir, 'store');
  writeFileSync(file, natsConfig({ host: LOOPBACK, port, serverName: `headway_test_${port}`, storeDir, sync, more }));
  return file;
}

async function launch(binary: string, config: string, dataDir: string, port: number): Promise<GuardedProcess> {
  const server = await startGuarded({ command: binary, args: ['-c', config], cwd: dataDir });
  try {
    await eventually(
      async () => {
        if (!server.running) return 'ended';
        return (await greetingOf(LOOPBACK, port)).jetstream === true && 'ready';
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

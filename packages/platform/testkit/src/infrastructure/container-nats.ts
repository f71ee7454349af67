import type { Engine } from './container-engine.ts';
import { onFreePort } from './free-port.ts';
import { startGuardedContainer } from './guarded-container.ts';
import { greetingOf } from './nats-greeting.ts';
import { type NatsOptions, natsConfig, type TestNats } from './test-nats.ts';

const INNER_PORT = 4222;
const CONFIG = '/etc/headway-test-nats.conf';
const READY_WITHIN_MS = 30_000;

/** A nats-server of this image on the engine, with fresh data. */
export async function startContainerNats(engine: Engine, image: string, options: NatsOptions): Promise<TestNats> {
  const launch = (sync: 'always' | 'interval') =>
    onFreePort((port) => start(engine, image, port, sync, options.configuration));
  let sync = options.sync ?? 'always';
  const { port, server } = await launch(sync).catch((error) => {
    // Servers before 2.10 do not know the setting, and refuse to start with it.
    if (sync === 'interval' || !/unknown field "sync_interval"/.test(String(error))) throw error;
    sync = 'interval';
    return launch(sync);
  });
  const { version = 'unknown' } = await greetingOf(server.host, port);
  return {
    url: `nats://${server.host}:${port}`,
    version,
    sync,
    dataDir: null,
    get pid() {
      return server.pid;
    },
    stop: () => server.remove(),
    kill9: () => server.kill9(),
    restart: () => server.restart(),
  };
}

function start(engine: Engine, image: string, port: number, sync: 'always' | 'interval', more?: string) {
  const settings = {
    host: '0.0.0.0',
    port: INNER_PORT,
    serverName: `headway_test_${port}`,
    storeDir: '/data/jetstream',
    sync,
    more,
  };
  return startGuardedContainer(engine, {
    image,
    command: ['-c', CONFIG],
    files: [{ content: natsConfig(settings), target: CONFIG }],
    innerPort: INNER_PORT,
    port,
    ready: async (host) => (await greetingOf(host, port)).jetstream === true,
    readyWithin: READY_WITHIN_MS,
    endSignal: 'SIGTERM',
  });
}

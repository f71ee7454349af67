import { borrowNats } from './borrowed-nats.ts';
import { chooseContainers } from './container-choice.ts';
import { imageFor } from './container-images.ts';
import { startLocalNats } from './local-nats.ts';
import type { NatsOptions, TestNats } from './test-nats.ts';

/**
 * A NATS server with JetStream, without our streams: the one of `HEADWAY_TEST_NATS_URL`, else one in a container where
 * a Docker engine answers (`HEADWAY_TEST_CONTAINERS`), else a local binary.
 */
export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const running = process.env.HEADWAY_TEST_NATS_URL;
  if (running !== undefined && running !== '' && options.own !== true && options.configuration === undefined)
    return borrowNats(running);
  const image = imageFor('nats');
  const engine = await chooseContainers(image);
  if (engine === null) return startLocalNats(options);
  // Loaded only where it is used: it brings a client of the engine.
  const { startContainerNats } = await import('./container-nats.ts');
  return startContainerNats(engine, image, options);
}

import { borrowPostgres } from './borrowed-postgres.ts';
import { chooseContainers } from './container-choice.ts';
import { imageFor } from './container-images.ts';
import { startLocalPostgres } from './local-postgres.ts';
import type { PostgresOptions, TestPostgres } from './test-postgres.ts';

/**
 * A real Postgres: the one of `HEADWAY_TEST_POSTGRES_URL`, else one in a container where a Docker engine answers
 * (`HEADWAY_TEST_CONTAINERS`), else local binaries.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const running = process.env.HEADWAY_TEST_POSTGRES_URL;
  if (running !== undefined && running !== '' && options.own !== true) return borrowPostgres(running);
  const image = imageFor('postgres');
  const engine = await chooseContainers(image);
  if (engine === null) return startLocalPostgres();
  // Loaded only where it is used: it brings a client of the engine.
  const { startContainerPostgres } = await import('./container-postgres.ts');
  return startContainerPostgres(engine, image);
}

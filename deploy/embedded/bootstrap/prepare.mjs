// Everything that must be there before Headway can run, in order. Each part does nothing where it is already there.
import { findNatsServer } from './nats-server.mjs';
import { checkPlatform, findNode } from './node24.mjs';
import { installPackages } from './packages.mjs';
import { cacheFolder } from './places.mjs';
import { findPostgres } from './postgres-binaries.mjs';
import { SetupError, say } from './progress.mjs';

/**
 * Brings what is missing.
 * @returns {Promise<{node: string, env: NodeJS.ProcessEnv}>} Node 24, and the environment to run Headway in: the caller's, with
 *   HEADWAY_NATS_SERVER and HEADWAY_POSTGRES_HOME where those servers are to be started here.
 */
export async function prepare(options = { servers: 'unless-given' }) {
  checkPlatform();
  const cache = cacheFolder();
  await installPackages(cache);
  const node = await findNode();
  const env = { ...process.env };
  const always = options.servers === 'always';
  if (always || !env.HEADWAY_POSTGRES_URL) env.HEADWAY_POSTGRES_HOME = await findPostgres(cache);
  if (always || !env.HEADWAY_NATS_URL) env.HEADWAY_NATS_SERVER = await findNatsServer(cache);
  return { node, env };
}

/** Prints what went wrong and ends with exit code 1. */
export function fail(error) {
  say(error instanceof SetupError ? error.message : (error?.stack ?? String(error)));
  process.exit(1);
}

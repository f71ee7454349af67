import { randomBytes } from 'node:crypto';
import type { Engine } from './container-engine.ts';
import { onFreePort } from './free-port.ts';
import { startGuardedContainer } from './guarded-container.ts';
import { createDatabaseAt, query, versionAt } from './postgres-databases.ts';
import { CLUSTER_ARGUMENTS, postgresArguments, type TestPostgres } from './test-postgres.ts';

const INNER_PORT = 5432;
const READY_WITHIN_MS = 60_000;

/** A Postgres of this image on the engine, with a fresh cluster. */
export async function startContainerPostgres(engine: Engine, image: string): Promise<TestPostgres> {
  const password = randomBytes(16).toString('hex');
  const adminAt = (host: string, port: number) => `postgres://postgres:${password}@${host}:${port}/postgres`;
  const { port, server } = await onFreePort((freePort) =>
    startGuardedContainer(engine, {
      image,
      command: ['postgres', ...postgresArguments({ listen_addresses: '*' })],
      environment: { POSTGRES_PASSWORD: password, POSTGRES_INITDB_ARGS: CLUSTER_ARGUMENTS.join(' ') },
      innerPort: INNER_PORT,
      port: freePort,
      ready: async (host) => (await query(adminAt(host, freePort), 'select 1')).length === 1,
      readyWithin: READY_WITHIN_MS,
      // The fast end: it does not wait for clients to leave.
      endSignal: 'SIGINT',
    }),
  );
  const admin = adminAt(server.host, port);
  const createDatabase = () => createDatabaseAt(admin);
  return {
    url: await createDatabase(),
    version: await versionAt(admin),
    get pid() {
      return server.pid;
    },
    createDatabase,
    stop: () => server.remove(),
    kill9: () => server.kill9(),
    restart: () => server.restart(),
  };
}

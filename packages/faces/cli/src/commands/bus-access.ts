import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the bus and the store are, with the rights to change streams. */
export interface BusAccess {
  readonly natsUrl: string;
  readonly postgresUrl: string;
  readonly replicas: number;
}

const repositoryRoot = fileURLToPath(new URL('../../../../../', import.meta.url));

/** In the embedded default: the bus user that may change streams, the user and database of Postgres. */
const ADMIN_USER = 'admin';
const POSTGRES = 'headway';

/**
 * From `HEADWAY_NATS_URL` and `HEADWAY_POSTGRES_URL`, or, where these are not set, those that `headway up` started here
 * (`HEADWAY_DATA_DIR`, else `.headway` of the installation). Throws a TypeError that says what to set.
 */
export function busAccess(environment: NodeJS.ProcessEnv, cwd: string): BusAccess {
  const folder = resolve(cwd, environment.HEADWAY_DATA_DIR || join(repositoryRoot, '.headway'));
  const replicas = environment.HEADWAY_NATS_REPLICAS || '1';
  if (!/^[135]$/.test(replicas)) throw new TypeError(`HEADWAY_NATS_REPLICAS is ${replicas}: set it to 1, 3 or 5`);
  return {
    natsUrl: environment.HEADWAY_NATS_URL || embedded(folder, 'nats', 'HEADWAY_NATS_URL'),
    postgresUrl: environment.HEADWAY_POSTGRES_URL || embedded(folder, 'postgres', 'HEADWAY_POSTGRES_URL'),
    replicas: Number(replicas),
  };
}

function embedded(folder: string, server: 'nats' | 'postgres', variable: string): string {
  const file = server === 'nats' ? join('nats-passwords', ADMIN_USER) : 'postgres-password';
  const ports = join(folder, 'ports.json');
  if (!existsSync(ports) || !existsSync(join(folder, file)))
    throw new TypeError(`${variable} is not set, and no server was started here: set it to the address of the server`);
  const port = (JSON.parse(readFileSync(ports, 'utf8')) as Record<string, number>)[server];
  const password = readFileSync(join(folder, file), 'utf8').trim();
  return server === 'nats'
    ? `nats://${ADMIN_USER}:${password}@127.0.0.1:${port}`
    : `postgres://${POSTGRES}:${password}@127.0.0.1:${port}/${POSTGRES}`;
}

export interface PostgresOptions {
  /** Ask for a server of one's own, which may be killed, though the environment names a running one. */
  readonly own?: boolean;
}

export interface TestPostgres {
  /** Superuser in a fresh database. */
  readonly url: string;
  readonly version: string;
  /** Of the running postmaster, as the machine it runs on counts; 0 where the server is not ours. */
  readonly pid: number;
  /** A new empty database on the same server; answers with its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server and removes its data; where it is not ours, drops the databases that were made. */
  stop(): Promise<void>;
  /** SIGKILL to the postmaster. Data stays, for {@link TestPostgres.restart}. Throws where the server is not ours. */
  kill9(): Promise<void>;
  /** Starts it again at the same address over the same data, after ending it fast if it runs. */
  restart(): Promise<void>;
}

/** Many test files run against one server each, so none gets much memory. Durability is real: servers get killed. */
const SETTINGS = {
  shared_buffers: '32MB',
  max_connections: '100',
  log_min_messages: 'warning',
  log_statement: 'none',
};

/** Arguments of `postgres` for a server that tests run against. `more` holds settings of its place. */
export function postgresArguments(more: Readonly<Record<string, string>>): string[] {
  return Object.entries({ ...SETTINGS, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** What the clusters of all places are made with, for `initdb`. */
export const CLUSTER_ARGUMENTS = ['-E', 'UTF8', '--locale=C', '-N'] as const;

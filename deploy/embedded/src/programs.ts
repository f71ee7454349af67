/** A program that runs to its end before the services start. */
export interface Job {
  readonly name: string;
  /** Path of its main file, relative to the repository's root. */
  readonly main: string;
  /** It makes the database's roles: it is told their passwords, and left out where the database is not of our making. */
  readonly makesRoles?: boolean;
}

/** A program that runs as long as Headway does and answers HTTP on the port it is given. */
export interface Service {
  readonly name: string;
  readonly main: string;
}

export const JOBS: readonly Job[] = [
  { name: 'streams', main: 'packages/platform/eventlog/src/provision.ts' },
  { name: 'read models', main: 'packages/platform/readmodel/src/migrate.ts' },
  { name: 'claims', main: 'packages/platform/claims/src/migrate.ts' },
  { name: 'effects', main: 'services/executor/src/journal/migrate.ts' },
  { name: 'database roles', main: 'deploy/postgres/src/main.ts', makesRoles: true },
];

export const SERVICES: readonly Service[] = ['ingest', 'classifier', 'executor', 'projection'].map((name) => ({
  name,
  main: `services/${name}/src/main.ts`,
}));

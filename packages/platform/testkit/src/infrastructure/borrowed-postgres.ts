import { createDatabaseAt, query, versionAt } from './postgres-databases.ts';
import type { TestPostgres } from './test-postgres.ts';

/** A running server, on which databases are made for the tests and dropped after them. */
export async function borrowPostgres(admin: string): Promise<TestPostgres> {
  const databases: string[] = [];
  const createDatabase = async () => {
    const url = await createDatabaseAt(admin);
    databases.push(url);
    return url;
  };
  const notOurs = async () => {
    throw new Error('the server of HEADWAY_TEST_POSTGRES_URL is not ours to end: ask for one with `own: true`');
  };
  return {
    url: await createDatabase(),
    version: await versionAt(admin),
    pid: 0,
    createDatabase,
    async stop() {
      for (const url of databases.splice(0))
        await query(admin, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    },
    kill9: notOurs,
    restart: notOurs,
  };
}

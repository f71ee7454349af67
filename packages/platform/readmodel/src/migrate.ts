import { Migrator } from 'kysely/migration';
import { connect } from './connect.ts';
import { migrations } from './migrations/index.ts';

/**
 * Brings the schema `headway` up to date and answers with the names of the migrations that were applied; none when it
 * was already. Several at once are safe: an advisory lock lets one of them work and the others wait. A migration that
 * fails is undone as a whole, and its error is thrown.
 */
export async function migrate(url: string): Promise<readonly string[]> {
  const db = connect({ url, connections: 2, name: 'headway-migrate', patient: true });
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => ({ ...migrations }) },
      migrationTableSchema: 'headway',
      migrationTableName: 'migrations',
      migrationLockTableName: 'migration_lock',
    });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return (results ?? []).filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
  } finally {
    await db.destroy();
  }
}

/** The one-shot job: `node src/migrate.ts`, with HEADWAY_POSTGRES_URL in the environment. */
async function main(): Promise<number> {
  const url = process.env.HEADWAY_POSTGRES_URL;
  if (url === undefined || url === '') {
    console.error(
      'Set HEADWAY_POSTGRES_URL to the database to migrate, like postgres://user:password@host:5432/headway.',
    );
    return 2;
  }
  try {
    const applied = await migrate(url);
    console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`);
    return 0;
  } catch (error) {
    console.error(`The migration failed: ${error instanceof Error ? error.message : String(error)}`);
    return 5;
  }
}

if (import.meta.main) process.exitCode = await main();

import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const FOLDER = new URL('./schema/', import.meta.url);

/**
 * Creates or updates the schema `effects`. Safe to run again, and by several at once. The schema `claims` has to be there
 * when functions are called, not when they are made.
 */
export async function migrateJournal(url: string): Promise<void> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  const files = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // What is not true yet of a function's body is found at its first call, as with any function of Postgres.
    const lock = `select pg_advisory_xact_lock(hashtext('headway/effects')); set local check_function_bodies = off;`;
    await client.query(`begin; ${lock} ${files.join('\n')} commit;`);
  } finally {
    await client.end();
  }
}

/** The one-shot job: `node src/journal/migrate.ts`, with HEADWAY_POSTGRES_URL in the environment. */
async function main(): Promise<number> {
  const url = process.env.HEADWAY_POSTGRES_URL;
  if (url === undefined || url === '') {
    process.stderr.write('Set HEADWAY_POSTGRES_URL to the address of the database, then run this again.\n');
    return 2;
  }
  await migrateJournal(url);
  process.stdout.write('effects: schema is up to date\n');
  return 0;
}

if (import.meta.main) process.exitCode = await main();

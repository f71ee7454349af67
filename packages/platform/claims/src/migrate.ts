import { migrateClaims } from './postgres-claims.ts';

const url = process.env.HEADWAY_POSTGRES_URL;
if (url === undefined || url === '') {
  process.stderr.write('Set HEADWAY_POSTGRES_URL to the address of the database, then run this again.\n');
  process.exitCode = 2;
} else {
  await migrateClaims(url);
  process.stdout.write('claims: schema is up to date\n');
}

/** The one-shot job: with HEADWAY_POSTGRES_URL of the database's owner, and a password for each role, in the environment. */
import { grantRoles } from './grant-roles.ts';
import { passwordVariable } from './roles.ts';

const { HEADWAY_POSTGRES_URL: url } = process.env;

function passwordOf(role: string): string {
  const password = process.env[passwordVariable(role)];
  if (password === undefined || password === '')
    throw new Error(`${passwordVariable(role)} is not set: set it to the password of the database role ${role}`);
  return password;
}

if (url === undefined || url === '') {
  console.error(
    'HEADWAY_POSTGRES_URL is not set: set it to the database, like postgres://owner:password@host:5432/headway',
  );
  process.exitCode = 2;
} else {
  try {
    console.log(`roles: ${(await grantRoles(url, passwordOf)).join(', ')}`);
  } catch (error) {
    console.error(`The roles could not be made: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 5;
  }
}

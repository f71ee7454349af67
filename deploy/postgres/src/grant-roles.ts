import pg from 'pg';
import { DATABASE_ROLES, type DatabaseRole } from './roles.ts';

/** Connections of all replicas of one service together. */
const CONNECTION_LIMIT = 100;

/**
 * Makes the roles of all services, or brings them to what is declared: what a role may do and is not declared is taken from it. Run it
 * after the migrations, as the owner of the database, who needs `createrole`. All or nothing; running it again changes nothing.
 */
export async function grantRoles(url: string, passwordOf: (role: string) => string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'headway-roles' });
  await client.connect();
  try {
    await client.query("begin; select pg_advisory_xact_lock(hashtext('headway/roles'))");
    const known = await client.query<{ rolname: string }>('select rolname from pg_roles');
    const existing = new Set(known.rows.map(({ rolname }) => rolname));
    for (const role of DATABASE_ROLES) {
      if (!existing.has(role.name)) await client.query(`create role ${role.name}`);
      for (const statement of await statementsFor(client, role, passwordOf(role.name))) await client.query(statement);
    }
    await client.query('commit');
    return DATABASE_ROLES.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function statementsFor(client: pg.Client, role: DatabaseRole, password: string): Promise<string[]> {
  const { name, uses, grants, owns } = role;
  const database = client.escapeIdentifier(client.database ?? '');
  const schemas = await client.query<{ schema: string }>(
    "select nspname as schema from pg_namespace where nspname in ('headway', 'claims', 'effects')",
  );
  const present = new Set(schemas.rows.map(({ schema }) => schema));
  const relations = await client.query<{ relation: string }>(
    "select nspname || '.' || relname as relation from pg_class join pg_namespace on pg_namespace.oid = relnamespace",
  );
  const tables = new Set(relations.rows.map(({ relation }) => relation));
  for (const schema of [...uses, ...owns])
    if (!present.has(schema)) throw new Error(`there is no schema ${schema} yet: run the migrations first`);
  return [
    `alter role ${name} with login connection limit ${CONNECTION_LIMIT} password ${client.escapeLiteral(password)}`,
    `revoke all on database ${database} from public`,
    `grant connect on database ${database} to ${name}`,
    // The owner of the database goes on migrating what belongs to a role.
    `grant ${name} to current_user`,
    // From an owner it would take what it may by being the owner.
    ...[...present].filter((schema) => !owns.includes(schema)).flatMap((schema) => withdraw(schema, name)),
    ...uses.map((schema) => `grant usage on schema ${schema} to ${name}`),
    ...grants
      .filter(({ on }) => on.endsWith('.*') || tables.has(on))
      .flatMap(({ on, may }) => grant(on, may.join(', '), name)),
    ...(await ownership(client, owns, name)),
  ];
}

const withdraw = (schema: string, role: string): string[] => [
  `revoke all on schema ${schema} from ${role}`,
  `revoke all on all tables in schema ${schema} from ${role}`,
  `alter default privileges in schema ${schema} revoke all on tables from ${role}`,
];

function grant(on: string, may: string, role: string): string[] {
  const [schema, table] = on.split('.');
  if (table !== '*') return [`grant ${may} on ${on} to ${role}`];
  return [
    `grant ${may} on all tables in schema ${schema} to ${role}`,
    `alter default privileges in schema ${schema} grant ${may} on tables to ${role}`,
  ];
}

async function ownership(client: pg.Client, owns: readonly string[], role: string): Promise<string[]> {
  const relations = await client.query<{ relation: string }>(
    `select format('%I.%I', nspname, relname) as relation
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = any ($1) and relkind in ('r', 'p', 'v', 'm')`,
    [owns],
  );
  return [
    ...owns.map((schema) => `alter schema ${schema} owner to ${role}`),
    ...relations.rows.map(({ relation }) => `alter table ${relation} owner to ${role}`),
  ];
}

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectPostgresClaims, migrateClaims } from '@headway/claims';
import { migrate, openReadModel } from '@headway/readmodel';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_ROLES, grantRoles } from '../src/index.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
const passwordOf = (role: string) => `secret of ${role}`;

let postgres: TestPostgres;
beforeAll(async () => {
  // Roles belong to a whole server, so this one is nobody else's.
  postgres = await startPostgres({ own: true });
  await expect(grantRoles(postgres.url, passwordOf)).rejects.toThrow('run the migrations first');
  await migrate(postgres.url);
  await migrateClaims(postgres.url);
  await migrateEffects(postgres.url);
  // Twice, as at each start of a deployment: what a role may is the same after it.
  for (let time = 0; time < 2; time += 1) await grantRoles(postgres.url, passwordOf);
});
afterAll(() => postgres?.stop());

/** The executor's own job, as a deployment runs it: a service is imported by nobody. */
async function migrateEffects(url: string): Promise<void> {
  const main = fileURLToPath(new URL('../../../services/executor/src/journal/migrate.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [main], { env: { ...process.env, HEADWAY_POSTGRES_URL: url } });
}

function urlOf(role: string): string {
  const url = new URL(postgres.url);
  url.username = role;
  url.password = encodeURIComponent(passwordOf(role));
  return url.href;
}

/** What the server says to one statement of a role: `ok`, or the code of its refusal. Nothing of it stays. */
async function ask(role: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: urlOf(role) });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(statement);
    return 'ok';
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error);
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

async function asOwner(statement: string): Promise<readonly Record<string, unknown>[]> {
  const owner = new pg.Client({ connectionString: postgres.url });
  await owner.connect();
  try {
    return (await owner.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await owner.end();
  }
}

/** As the server keeps it; the test's own server lets everybody in without asking for it. */
const keptPasswordOf = async (role: string): Promise<unknown> =>
  (await asOwner(`select rolpassword from pg_authid where rolname = '${role}'`))[0]?.rolpassword;

/** Each statement, and the roles that may. */
const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  'select key from headway.identities limit 1': ['ingest', 'projection'],
  'select * from headway.positions': ['ingest', 'classifier', 'projection'],
  'select * from effects.operation': ['executor'],
  'delete from effects.outbox': ['executor'],
  'select change from headway.changes': ['ingest', 'projection'],
  'select * from headway.works': ['projection'],
  'select * from headway.archive limit 1': ['projection'],
  'delete from headway.archive': ['projection'],
  'delete from headway.identities': ['projection'],
  'update headway.changes set change = change + 1': ['projection'],
  "insert into headway.positions (reader, stream, generation, sequence) values ('r', 's', 1, 1)": ['projection'],
  'create table headway.rebuilt (id int)': ['projection'],
  'alter table headway.works rename to works_before': ['projection'],
  'create table public.mine (id int)': [],
  'create schema mine': [],
  'create role mine': [],
  'create temporary table mine (id int)': [],
  'alter role ingest superuser': [],
  "select * from claims.acquire(array['a'], 'me', interval '1 s')": ['classifier', 'projection', 'executor'],
  'select * from claims.claim': ['classifier', 'projection', 'executor'],
  'delete from claims.claim': [],
  'drop table claims.claim': [],
  'alter table claims.claim add column more int': [],
  "copy (select 1) to program 'true'": [],
  "select pg_read_file('/etc/passwd')": [],
};

describe.each(DATABASE_ROLES.map(({ name }) => name))('the database role %s', (role) => {
  it.each(Object.entries(STATEMENTS))('%s', async (statement, roles) => {
    const answer = await ask(role, statement);
    expect(answer).toBe(roles.includes(role) ? 'ok' : INSUFFICIENT_PRIVILEGE);
  });
});

describe('the services’ own ports', () => {
  it('work over the roles', async () => {
    const claims = connectPostgresClaims(urlOf('classifier'));
    const held = await claims.acquire(['partition/1'], 'me', 10);
    expect(held).toMatchObject([{ resource: 'partition/1', epoch: 1 }]);
    expect(await claims.renew(held, 10)).toHaveLength(1);
    expect(await claims.list('partition/')).toHaveLength(1);
    await claims.release(held);
    await claims.close();

    const ingest = openReadModel({ url: urlOf('ingest') });
    await ingest.ping();
    expect(await ingest.identities.archived()).toMatchObject({ sequence: 0 });
    expect((await ingest.identities.lookup(['00'.repeat(32)])).size).toBe(0);
    await ingest.close();

    const projection = openReadModel({ url: urlOf('projection') });
    await projection.ping();
    expect(await projection.views.newestChange()).toBe(0);
    await projection.close();
  });

  it('go on after the roles and the migrations were run again, with a new password', async () => {
    await migrate(postgres.url);
    await migrateClaims(postgres.url);
    const before = await keptPasswordOf('ingest');
    await grantRoles(postgres.url, (role) => `${passwordOf(role)}, new`);
    expect(before).toMatch(/^SCRAM-SHA-256\$/);
    expect(await keptPasswordOf('ingest')).not.toBe(before);
    expect(await ask('ingest', 'select key from headway.identities')).toBe('ok');
  });

  it('lose what is not declared', async () => {
    await asOwner('grant select on headway.works to ingest; grant create on schema headway to ingest');
    expect(await ask('ingest', 'select * from headway.works')).toBe('ok');
    await grantRoles(postgres.url, passwordOf);
    expect(await ask('ingest', 'select * from headway.works')).toBe(INSUFFICIENT_PRIVILEGE);
    expect(await ask('ingest', 'create table headway.mine (id int)')).toBe(INSUFFICIENT_PRIVILEGE);
  });
});

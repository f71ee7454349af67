import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';
import { APPENDED, CHANGING, FLEET, GENERATION_TABLES, NEXT_SCHEMA, OLD_SCHEMA } from './tables.ts';

interface Index {
  readonly name: string;
  readonly definition: string;
  readonly primary: boolean;
}

/**
 * Makes the empty tables of the next generation, like those of the living one. What earlier rebuilds have left, one that
 * died after its switch too, is thrown away.
 */
export async function createNext(tx: Kysely<Database>): Promise<void> {
  await dropSchema(tx, NEXT_SCHEMA);
  await dropSchema(tx, OLD_SCHEMA);
  await sql`create schema ${sql.ref(NEXT_SCHEMA)}`.execute(tx);
  for (const table of GENERATION_TABLES) {
    await sql`
      create table ${sql.ref(`${NEXT_SCHEMA}.${table}`)}
      (like ${sql.ref(`headway.${table}`)} including defaults including constraints including identity)`.execute(tx);
    if (!APPENDED.includes(table)) await createIndexes(tx, table);
  }
}

/** Makes the indexes that can wait until the tables are full. */
export async function completeNext(tx: Kysely<Database>): Promise<void> {
  for (const table of APPENDED) await createIndexes(tx, table);
}

export const dropSchema = async (db: Kysely<Database>, schema: string): Promise<void> => {
  await sql`drop schema if exists ${sql.ref(schema)} cascade`.execute(db);
};

async function createIndexes(tx: Kysely<Database>, table: string): Promise<void> {
  const { rows } = await sql<Index>`
    select class.relname as name, pg_get_indexdef(indexes.indexrelid) as definition, indexes.indisprimary as "primary"
    from pg_index as indexes join pg_class as class on class.oid = indexes.indexrelid
    where indexes.indrelid = ${`headway.${table}`}::regclass order by class.relname`.execute(tx);
  for (const { name, definition, primary } of rows) {
    const there = definition.replace(` ON headway.${table} `, ` ON ${NEXT_SCHEMA}.${table} `);
    if (there === definition) throw new Error(`the definition of the index ${name} was not understood: ${definition}`);
    await sql.raw(there).execute(tx);
    if (primary)
      await sql`
        alter table ${sql.ref(`${NEXT_SCHEMA}.${table}`)}
        add constraint ${sql.ref(name)} primary key using index ${sql.ref(name)}`.execute(tx);
  }
}

/**
 * Puts the next generation in the place of the living one. Rows that are as they were keep the number of their change, so
 * that those who follow the stream hear of what is different, and of that alone.
 */
export async function takePlace(tx: Kysely<Database>, change: number): Promise<void> {
  for (const { table, key } of CHANGING) await numberChanges(tx, table, key, change);
  await settleLetters(tx);
  await sql`create schema ${sql.ref(OLD_SCHEMA)}`.execute(tx);
  for (const table of GENERATION_TABLES) {
    await sql`alter table ${sql.ref(`headway.${table}`)} set schema ${sql.ref(OLD_SCHEMA)}`.execute(tx);
    await sql`alter table ${sql.ref(`${NEXT_SCHEMA}.${table}`)} set schema headway`.execute(tx);
  }
  await sql`
    update headway.projections set generation = generation + 1, switched_at = now() where name = ${FLEET}`.execute(tx);
}

async function numberChanges(tx: Kysely<Database>, table: string, key: readonly string[], change: number) {
  const next = sql.ref(`${NEXT_SCHEMA}.${table}`);
  const sameKey = (one: string, other: string) =>
    sql.join(
      key.map((column) => sql`${sql.ref(`${one}.${column}`)} = ${sql.ref(`${other}.${column}`)}`),
      sql` and `,
    );
  await sql`
    update ${next} as next set change = case
      when living.change is not null and to_jsonb(built) - 'change' = to_jsonb(living) - 'change' then living.change
      else ${change} end
    from ${next} as built left join ${sql.ref(`headway.${table}`)} as living on ${sameKey('living', 'built')}
    where ${sameKey('next', 'built')}`.execute(tx);
}

/** What the next generation could handle is no dead letter any more; what it could not is one now. */
async function settleLetters(tx: Kysely<Database>) {
  await sql`
    update headway.dead_letters as letters
    set state = 'retried', closed_at = now(), closed_by = 'headway', why = 'a rebuild has handled it'
    where reader = 'projection' and state = 'open' and stream in ('EVIDENCE', 'RECORD') and not exists (
      select from ${sql.ref(`${NEXT_SCHEMA}.holds`)} as holds
      where (holds.stream, holds.generation, holds.sequence) = (letters.stream, letters.generation, letters.sequence)
    )`.execute(tx);
  await sql`
    insert into headway.dead_letters as kept
      (reader, stream, generation, sequence, subject, aggregate, tenant, work, error, recorded_at)
    select 'projection', stream, generation, sequence, subject, aggregate, tenant, work, error, recorded_at
    from ${sql.ref(`${NEXT_SCHEMA}.holds`)}
    on conflict (reader, stream, generation, sequence) do update
    set state = 'open', closed_at = null, closed_by = null, why = null
    where kept.state = 'retried'`.execute(tx);
}

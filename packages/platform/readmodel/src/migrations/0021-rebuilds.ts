import { type Kysely, sql } from 'kysely';

/** The generation of each projection, and its rebuilds with how far they got. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table headway.projections (
      name text primary key,
      generation integer not null,
      switched_at timestamptz
    )`.execute(db);
  await sql`insert into headway.projections (name, generation) values ('fleet', 1)`.execute(db);
  await sql`
    create table headway.rebuilds (
      id bigint generated always as identity primary key,
      projection text not null,
      state text not null,
      requested_by text not null,
      why text not null,
      requested_at timestamptz not null,
      started_at timestamptz,
      updated_at timestamptz,
      ended_at timestamptz,
      done bigint not null default 0,
      total bigint not null default 0,
      worker text,
      error text
    )`.execute(db);
  await sql`
    create unique index rebuilds_under_way on headway.rebuilds (projection)
    where state in ('requested', 'running')`.execute(db);
}

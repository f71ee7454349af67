import { type Kysely, sql } from 'kysely';

/** Reader positions, the byte-exact archive of the log, identities, dead letters and the change counter. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table headway.positions (
      reader text not null,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      created text,
      updated_at timestamptz not null default now(),
      primary key (reader, stream)
    )`.execute(db);
  // One row. Its lock makes commits that change read models follow one another in the order of their numbers.
  await sql`create table headway.changes (singleton boolean primary key default true check (singleton), change bigint not null)`.execute(
    db,
  );
  await sql`insert into headway.changes (change) values (0)`.execute(db);
  // json, not jsonb: the text of the headers is kept as it was, order and repetition included.
  await sql`
    create table headway.archive (
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      subject text not null,
      headers json not null,
      message_id text,
      payload bytea not null,
      recorded_at timestamptz not null,
      primary key (stream, generation, sequence)
    )`.execute(db);
  await sql`
    create table headway.identities (
      key bytea primary key,
      content bytea not null,
      tenant text not null,
      work text not null,
      generation integer not null,
      sequence bigint not null,
      reported_at text
    )`.execute(db);
  await sql`
    create table headway.dead_letters (
      id bigint generated always as identity primary key,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      subject text not null,
      error text not null,
      recorded_at timestamptz not null,
      unique (stream, generation, sequence)
    )`.execute(db);
}

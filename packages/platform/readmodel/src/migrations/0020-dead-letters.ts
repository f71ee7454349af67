import { type Kysely, sql } from 'kysely';

/**
 * Dead letters of every reader, with what became of them; and what waits behind those of the projection. A message that
 * an earlier version set aside was passed over by it, and what followed went on: that is what dropping means.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table headway.dead_letters
      drop constraint dead_letters_stream_generation_sequence_key,
      drop column id,
      add column reader text not null default 'projection',
      add column aggregate text not null default '',
      add column tenant text,
      add column work text,
      add column state text not null default 'open',
      add column attempts integer not null default 1,
      add column closed_at timestamptz,
      add column closed_by text,
      add column why text,
      add primary key (reader, stream, generation, sequence)`.execute(db);
  await sql`
    update headway.dead_letters
    set state = 'dropped', closed_at = now(), closed_by = 'headway', why = 'passed over by an earlier version'`.execute(
    db,
  );
  await sql`create index dead_letters_open on headway.dead_letters (tenant, work) where state = 'open'`.execute(db);
  await sql`create index dead_letters_of_aggregate on headway.dead_letters (aggregate)`.execute(db);
  await sql`
    create table headway.holds (
      aggregate text primary key,
      tenant text,
      work text,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      subject text not null,
      error text not null,
      recorded_at timestamptz not null
    )`.execute(db);
  await sql`
    create table headway.waiting (
      aggregate text not null,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      primary key (aggregate, stream, generation, sequence)
    )`.execute(db);
}

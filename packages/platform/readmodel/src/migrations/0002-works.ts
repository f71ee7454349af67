import { type Kysely, sql } from 'kysely';

/** The fleet as it stands, one row per work, and everything that happened to each work in order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table headway.works (
      tenant text not null,
      work text not null,
      worker text,
      orchestrator text,
      lane text,
      base text,
      incarnation bigint not null default 0,
      criteria json not null default '[]',
      checkpoint json,
      cost_usd double precision,
      first_sequence bigint,
      last_sequence bigint,
      class text not null default 'unknown',
      rank smallint not null,
      rule text,
      assessment json,
      since text,
      since_sequence bigint,
      attempts integer not null default 0,
      covered bigint not null default 0,
      covered_by bigint not null default 0,
      open_signal text,
      updated_at timestamptz not null,
      change bigint not null,
      primary key (tenant, work)
    )`.execute(db);
  await sql`create index works_by_rank on headway.works (tenant, rank, work)`.execute(db);
  await sql`create index works_by_change on headway.works (tenant, change)`.execute(db);
  // Only the works that the classifier has yet to look at: few, however large the fleet is.
  await sql`create index works_uncovered on headway.works (tenant) where covered < last_sequence`.execute(db);
  await sql`create index works_by_cover on headway.works (tenant, covered_by)`.execute(db);
  await sql`
    create table headway.timeline (
      entry bigint generated always as identity primary key,
      tenant text not null,
      work text not null,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      kind text not null,
      type text not null,
      id text not null,
      incarnation bigint,
      time text,
      recorded_at timestamptz not null,
      data json not null
    )`.execute(db);
  await sql`create index timeline_of_work on headway.timeline (tenant, work, entry)`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** Signals, the works in each, and how far each tenant's signaller has read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table headway.signals (
      tenant text not null,
      signal text not null,
      kind text not null,
      state text not null,
      incarnation bigint,
      rule text,
      gate text,
      signature text,
      diff text,
      count integer,
      reason text not null,
      recipients json not null,
      raised_sequence bigint not null,
      raised_at timestamptz not null,
      closed_at timestamptz,
      closing json,
      change bigint not null,
      primary key (tenant, signal)
    )`.execute(db);
  await sql`create index signals_by_age on headway.signals (tenant, raised_sequence, signal)`.execute(db);
  await sql`create index signals_open on headway.signals (tenant, raised_sequence, signal) where state = 'open'`.execute(
    db,
  );
  await sql`create index signals_by_change on headway.signals (tenant, change)`.execute(db);
  await sql`
    create table headway.signal_members (
      tenant text not null,
      signal text not null,
      work text not null,
      present boolean not null,
      primary key (tenant, signal, work)
    )`.execute(db);
  await sql`create index signal_members_by_work on headway.signal_members (tenant, work) where present`.execute(db);
  await sql`
    create table headway.signal_coverage (
      tenant text primary key,
      covered bigint not null
    )`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** What a work has used up, what it was judged by, and what the fleet report and the inboxes are read from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table headway.works
      add column phase text not null default 'unclaimed',
      add column ledger json,
      add column done_at timestamptz`.execute(db);
  await sql`update headway.works set phase = coalesce(assessment ->> 'phase', 'unclaimed')`.execute(db);
  await sql`create index works_done on headway.works (tenant, done_at, work) where done_at is not null`.execute(db);
  await sql`create index signals_by_time on headway.signals (tenant, raised_at)`.execute(db);
  await sql`
    create table headway.signal_recipients (
      tenant text not null,
      recipient text not null,
      signal text not null,
      primary key (tenant, recipient, signal)
    )`.execute(db);
  await sql`
    insert into headway.signal_recipients
    select distinct tenant, recipient, signal
    from headway.signals, json_array_elements_text(recipients) as recipient`.execute(db);
  await sql`
    create table headway.usage_spans (
      tenant text not null,
      work text not null,
      started_at timestamptz not null,
      ended_at timestamptz not null,
      cost_usd double precision
    )`.execute(db);
  await sql`create index usage_spans_by_end on headway.usage_spans (tenant, ended_at)`.execute(db);
  await sql`
    create table headway.policies (
      tenant text not null,
      version bigint not null,
      lane text,
      numbers json,
      set_by text not null,
      why text not null,
      set_at timestamptz not null,
      generation integer not null,
      sequence bigint not null,
      primary key (tenant, version)
    )`.execute(db);
}

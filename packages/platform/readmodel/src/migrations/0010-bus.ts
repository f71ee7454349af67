import { type Kysely, sql } from 'kysely';

/** What is known of the streams beyond their messages: what they lost, what stands in for it, what was taken out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A service saw a stream up to `seen`, and the stream does not reach so far any more. Gone once it was put back.
  await sql`
    create table headway.bus_losses (
      stream text not null,
      generation integer not null,
      seen bigint not null,
      noted_at timestamptz not null default now(),
      primary key (stream, generation)
    )`.execute(db);
  // Acknowledged messages that no copy of was left, when a stream was put back.
  await sql`
    create table headway.bus_gaps (
      stream text not null,
      generation integer not null,
      first bigint not null,
      last bigint not null,
      found_at timestamptz not null default now(),
      primary key (stream, generation, first)
    )`.execute(db);
  // Generations that are over, and up to where their positions are true in the one that follows.
  await sql`
    create table headway.bus_generations (
      stream text not null,
      generation integer not null,
      last_sequence bigint not null,
      ended_at timestamptz not null default now(),
      primary key (stream, generation)
    )`.execute(db);
  // Messages that were written to a stream after it had lost its tail, before it was put back.
  await sql`
    create table headway.bus_kept (
      id bigint generated always as identity primary key,
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      agreed bigint not null,
      subject text not null,
      headers json not null,
      message_id text,
      payload bytea not null,
      recorded_at timestamptz not null,
      fate text not null,
      appended_at bigint
    )`.execute(db);
  await sql`
    create table headway.bus_trims (
      stream text not null,
      generation integer not null,
      sequence bigint not null,
      trimmed_at timestamptz not null default now(),
      primary key (stream, generation)
    )`.execute(db);
}

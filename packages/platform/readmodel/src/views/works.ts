import type { TrajectoryClass } from '@headway/contracts';
import { type Kysely, type Selectable, sql } from 'kysely';
import { rankOf, type WorkRow } from '../rows.ts';
import type { Database, TimelineTable, WorksTable } from '../tables.ts';
import { storableText } from '../write/unnest.ts';
import { readWork } from '../write/works.ts';

/** Where a page of works ends: after this place in the order of the fleet table. */
export interface WorkPlace {
  readonly rank: number;
  readonly work: string;
}

export interface WorkQuery {
  readonly tenant: string;
  readonly class: TrajectoryClass | null;
  readonly after: WorkPlace | null;
  readonly limit: number;
}

/** Works, those that need a person first, then by id; at most `limit`, and where the next page starts. */
export async function listWorks(
  db: Kysely<Database>,
  { tenant, class: wanted, after, limit }: WorkQuery,
): Promise<{ rows: WorkRow[]; next: WorkPlace | null }> {
  const ofClass = wanted === null ? sql`true` : sql`rank = ${rankOf(wanted)}`;
  const later = after === null ? sql`true` : sql`(rank, work) > (${after.rank}, ${storableText(after.work)})`;
  const { rows } = await sql<Selectable<WorksTable>>`
    select * from headway.works where tenant = ${storableText(tenant)} and ${ofClass} and ${later}
    order by rank, work limit ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit).map(readWork);
  const last = page.at(-1);
  return {
    rows: page,
    next: rows.length > limit && last !== undefined ? { rank: rankOf(last.class), work: last.work } : null,
  };
}

export async function findWork(db: Kysely<Database>, tenant: string, work: string): Promise<WorkRow | null> {
  const { rows } = await sql<Selectable<WorksTable>>`
    select * from headway.works where tenant = ${storableText(tenant)} and work = ${storableText(work)}`.execute(db);
  return rows[0] === undefined ? null : readWork(rows[0]);
}

export interface TimelineQuery {
  readonly tenant: string;
  readonly work: string;
  /** The last entry of the page before; `null` = the first page. */
  readonly after: number | null;
  readonly newestFirst: boolean;
  readonly limit: number;
}

export interface StandingEntry {
  readonly entry: number;
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
  readonly kind: string;
  readonly type: string;
  readonly id: string;
  readonly incarnation: number | null;
  readonly time: string | null;
  readonly recordedAt: number;
  readonly data: unknown;
}

/** What happened to a work, in order or the newest first. */
export async function listTimeline(
  db: Kysely<Database>,
  { tenant, work, after, newestFirst, limit }: TimelineQuery,
): Promise<{ rows: StandingEntry[]; next: number | null }> {
  const beyond = after === null ? sql`true` : newestFirst ? sql`entry < ${after}` : sql`entry > ${after}`;
  const { rows } = await sql<Selectable<TimelineTable>>`
    select * from headway.timeline
    where tenant = ${storableText(tenant)} and work = ${storableText(work)} and ${beyond}
    order by entry ${newestFirst ? sql`desc` : sql`asc`} limit ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit).map(({ tenant: _tenant, work: _work, recorded_at, ...entry }) => ({
    ...entry,
    recordedAt: recorded_at.getTime(),
  }));
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.entry ?? null) : null };
}

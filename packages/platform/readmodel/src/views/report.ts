import { type Kysely, type Selectable, sql } from 'kysely';
import type { WorkRow } from '../rows.ts';
import type { Database, WorksTable } from '../tables.ts';
import { storableText } from '../write/unnest.ts';
import { readWork } from '../write/works.ts';

/** Spans of usage that one report looks at, the newest. */
export const REPORT_SPANS = 50_000;

export interface ReportWindow {
  readonly tenant: string;
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
}

export interface ReportCounts {
  readonly works: readonly { readonly class: string; readonly phase: string; readonly count: number }[];
  readonly signals: readonly { readonly kind: string; readonly state: string; readonly count: number }[];
  /** Seconds; `null` where nothing was acknowledged. */
  readonly acknowledged: {
    readonly count: number;
    readonly median: number | null;
    readonly p90: number | null;
    readonly longest: number | null;
  };
  /** When the oldest signal that is open now was raised. */
  readonly oldestOpen: number | null;
  readonly cost: {
    readonly usd: number | null;
    readonly measured: number;
    readonly partly: number;
    readonly unmeasured: number;
  };
}

/** What is counted for a report. Works are all there are; the rest is of the window. */
export async function reportCounts(db: Kysely<Database>, { tenant, from, to }: ReportWindow): Promise<ReportCounts> {
  const of = storableText(tenant);
  const since = new Date(from).toISOString();
  const until = new Date(to).toISOString();
  const raised = sql`tenant = ${of} and raised_at >= ${since} and raised_at < ${until}`;
  const works = await sql<ReportCounts['works'][number]>`
    select class, phase, count(*)::int as count from headway.works where tenant = ${of} group by 1, 2`.execute(db);
  const signals = await sql<ReportCounts['signals'][number]>`
    select kind, state, count(*)::int as count from headway.signals where ${raised} group by 1, 2`.execute(db);
  const acknowledged = await sql<ReportCounts['acknowledged']>`
    select count(*)::int as count,
      percentile_cont(0.5) within group (order by seconds) as median,
      percentile_cont(0.9) within group (order by seconds) as p90,
      max(seconds) as longest
    from (
      select extract(epoch from closed_at - raised_at)::double precision as seconds
      from headway.signals where ${raised} and state = 'acknowledged'
    ) as times`.execute(db);
  const open = await sql<{ oldest: Date | null }>`
    select min(raised_at) as oldest from headway.signals where tenant = ${of} and state = 'open'`.execute(db);
  const cost = await sql<ReportCounts['cost']>`
    select sum(usd) as usd,
      (count(*) filter (where measured > 0 and measured = reports))::int as measured,
      (count(*) filter (where measured > 0 and measured < reports))::int as partly,
      (count(*) filter (where measured = 0))::int as unmeasured
    from (
      select work, sum(cost_usd) as usd, count(cost_usd) as measured, count(*) as reports
      from headway.usage_spans where tenant = ${of} and ended_at >= ${since} and ended_at < ${until}
      group by work
    ) as spent`.execute(db);
  return {
    works: works.rows,
    signals: signals.rows,
    acknowledged: acknowledged.rows[0] ?? { count: 0, median: null, p90: null, longest: null },
    oldestOpen: open.rows[0]?.oldest?.getTime() ?? null,
    cost: cost.rows[0] ?? { usd: null, measured: 0, partly: 0, unmeasured: 0 },
  };
}

/** Where a page of done works ends. */
export interface DonePlace {
  readonly doneAt: number;
  readonly work: string;
}

/** Works done in the window, the newest first. */
export async function listDone(
  db: Kysely<Database>,
  { tenant, from, to, after, limit }: ReportWindow & { readonly after: DonePlace | null; readonly limit: number },
): Promise<{ rows: WorkRow[]; next: DonePlace | null }> {
  const beyond =
    after === null
      ? sql`true`
      : sql`(done_at, work) < (${new Date(after.doneAt).toISOString()}::timestamptz, ${storableText(after.work)})`;
  const { rows } = await sql<Selectable<WorksTable>>`
    select * from headway.works
    where tenant = ${storableText(tenant)} and done_at >= ${new Date(from).toISOString()}
      and done_at < ${new Date(to).toISOString()} and ${beyond}
    order by done_at desc, work desc limit ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit).map(readWork);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined && last.doneAt !== null;
  return { rows: page, next: more ? { doneAt: last.doneAt as number, work: last.work } : null };
}

/** Times with usage that ended in the window, the newest {@link REPORT_SPANS}. */
export async function usageSpans(
  db: Kysely<Database>,
  { tenant, from, to }: ReportWindow,
): Promise<{ agent: string; from: number; to: number }[]> {
  const { rows } = await sql<{ work: string; started_at: Date; ended_at: Date }>`
    select work, started_at, ended_at from headway.usage_spans
    where tenant = ${storableText(tenant)} and ended_at >= ${new Date(from).toISOString()}
      and ended_at < ${new Date(to).toISOString()}
    order by ended_at desc limit ${REPORT_SPANS}`.execute(db);
  return rows.map(({ work, started_at, ended_at }) => ({
    agent: work,
    from: started_at.getTime(),
    to: ended_at.getTime(),
  }));
}

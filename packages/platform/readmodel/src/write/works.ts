import { emptyLedger } from '@headway/contracts';
import { type Kysely, type Selectable, sql } from 'kysely';
import { copyInto } from '../copy.ts';
import { rankOf, type TimelineRow, type WorkKey, type WorkRow } from '../rows.ts';
import type { Database, WorksTable } from '../tables.ts';
import { type Column, chunksOf, rowsOf, storableText } from './unnest.ts';

const key: readonly Column<WorkRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['work', 'text', (row) => row.work],
];
/** All but `open_signal`, which only `refreshOpenSignals` writes. */
const facts: readonly Column<WorkRow>[] = [
  ['worker', 'text', (row) => row.worker],
  ['orchestrator', 'text', (row) => row.orchestrator],
  ['lane', 'text', (row) => row.lane],
  ['base', 'text', (row) => row.base],
  ['incarnation', 'bigint', (row) => row.incarnation],
  ['criteria', 'json', (row) => row.criteria],
  ['checkpoint', 'json', (row) => row.checkpoint],
  ['cost_usd', 'double precision', (row) => row.costUsd],
  ['ledger', 'json', (row) => row.ledger],
  ['phase', 'text', (row) => row.assessment?.phase ?? 'unclaimed'],
  ['done_at', 'timestamptz', (row) => row.doneAt],
  ['first_sequence', 'bigint', (row) => row.firstSequence],
  ['last_sequence', 'bigint', (row) => row.lastSequence],
  ['class', 'text', (row) => row.class],
  ['rank', 'smallint', (row) => rankOf(row.class)],
  ['rule', 'text', (row) => row.rule],
  ['assessment', 'json', (row) => row.assessment],
  ['since', 'text', (row) => row.since],
  ['since_sequence', 'bigint', (row) => row.sinceSequence],
  ['attempts', 'integer', (row) => row.attempts],
  ['covered', 'bigint', (row) => row.covered],
  ['covered_by', 'bigint', (row) => row.coveredBy],
  ['updated_at', 'timestamptz', (row) => row.updatedAt],
  ['change', 'bigint', (row) => row.change],
];
const replaced = sql.join(facts.map(([name]) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`));

/** The rows that exist among `keys`. */
export async function loadWorks(db: Kysely<Database>, keys: readonly WorkKey[]): Promise<WorkRow[]> {
  const found: WorkRow[] = [];
  for (const chunk of chunksOf(keys)) {
    const { rows } = await sql<Selectable<WorksTable>>`
      select works.* from headway.works
      join unnest(${tenantsOf(chunk)}::text[], ${worksOf(chunk)}::text[]) as wanted(tenant, work) using (tenant, work)
    `.execute(db);
    found.push(...rows.map(readWork));
  }
  return found;
}

/** Replaces whole rows. Each work at most once in `rows`. */
export async function saveWorks(db: Kysely<Database>, rows: readonly WorkRow[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`
      insert into headway.works ${rowsOf([...key, ...facts], chunk)}
      on conflict (tenant, work) do update set ${replaced}`.execute(db);
}

/** Points each work to the open signal that concerns it: its own before a shared failure. Only what changes is written. */
export async function refreshOpenSignals(
  db: Kysely<Database>,
  keys: readonly WorkKey[],
  change: number,
): Promise<void> {
  for (const chunk of chunksOf(keys))
    await sql`
      update headway.works set open_signal = wanted.signal, change = ${change}
      from (
        select asked.tenant, asked.work, (
          select signals.signal
          from headway.signal_members as members join headway.signals as signals using (tenant, signal)
          where members.tenant = asked.tenant and members.work = asked.work and members.present and signals.state = 'open'
          order by signals.kind = 'shared-failure', signals.raised_sequence, signals.signal
          limit 1
        ) as signal
        from unnest(${tenantsOf(chunk)}::text[], ${worksOf(chunk)}::text[]) as asked(tenant, work)
      ) as wanted
      where works.tenant = wanted.tenant and works.work = wanted.work
        and works.open_signal is distinct from wanted.signal`.execute(db);
}

const timelineColumns: readonly Column<TimelineRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['work', 'text', (row) => row.work],
  ['stream', 'text', (row) => row.stream],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
  ['kind', 'text', (row) => row.kind],
  ['type', 'text', (row) => row.type],
  ['id', 'text', (row) => row.id],
  ['incarnation', 'bigint', (row) => row.incarnation],
  ['time', 'text', (row) => row.time],
  ['recorded_at', 'timestamptz', (row) => row.recordedAt],
  ['data', 'json', (row) => row.data],
];

export async function appendTimeline(db: Kysely<Database>, rows: readonly TimelineRow[]): Promise<void> {
  await copyInto(db, 'timeline', timelineColumns, rows);
}

const tenantsOf = (keys: readonly { tenant: string }[]) => keys.map(({ tenant }) => storableText(tenant));
const worksOf = (keys: readonly WorkKey[]) => keys.map(({ work }) => storableText(work));

export function readWork(row: Selectable<WorksTable>): WorkRow {
  return {
    tenant: row.tenant,
    work: row.work,
    worker: row.worker,
    orchestrator: row.orchestrator,
    lane: row.lane,
    base: row.base,
    incarnation: row.incarnation,
    criteria: row.criteria,
    checkpoint: row.checkpoint as WorkRow['checkpoint'],
    costUsd: row.cost_usd,
    ledger: (row.ledger as WorkRow['ledger'] | null) ?? emptyLedger,
    doneAt: row.done_at?.getTime() ?? null,
    firstSequence: row.first_sequence,
    lastSequence: row.last_sequence,
    class: row.class as WorkRow['class'],
    rule: row.rule as WorkRow['rule'],
    assessment: row.assessment as WorkRow['assessment'],
    since: row.since,
    sinceSequence: row.since_sequence,
    attempts: row.attempts,
    covered: row.covered,
    coveredBy: row.covered_by,
    openSignal: row.open_signal,
    updatedAt: row.updated_at.getTime(),
    change: row.change,
  };
}

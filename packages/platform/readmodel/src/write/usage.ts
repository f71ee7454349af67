import { type Kysely, sql } from 'kysely';
import type { UsageSpanRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf, rowsOf } from './unnest.ts';

const columns: readonly Column<UsageSpanRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['work', 'text', (row) => row.work],
  ['started_at', 'timestamptz', (row) => row.startedAt],
  ['ended_at', 'timestamptz', (row) => row.endedAt],
  ['cost_usd', 'double precision', (row) => row.costUsd],
];

export async function appendUsage(db: Kysely<Database>, rows: readonly UsageSpanRow[]): Promise<void> {
  for (const chunk of chunksOf(rows)) await sql`insert into headway.usage_spans ${rowsOf(columns, chunk)}`.execute(db);
}

import type { Kysely } from 'kysely';
import { copyInto } from '../copy.ts';
import type { UsageSpanRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import type { Column } from './unnest.ts';

const columns: readonly Column<UsageSpanRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['work', 'text', (row) => row.work],
  ['started_at', 'timestamptz', (row) => row.startedAt],
  ['ended_at', 'timestamptz', (row) => row.endedAt],
  ['cost_usd', 'double precision', (row) => row.costUsd],
];

export async function appendUsage(db: Kysely<Database>, rows: readonly UsageSpanRow[]): Promise<void> {
  await copyInto(db, 'usage_spans', columns, rows);
}

import { type Kysely, sql } from 'kysely';
import type { PolicyRow } from '../rows.ts';
import type { Database } from '../tables.ts';
import { type Column, chunksOf, rowsOf } from './unnest.ts';

const columns: readonly Column<PolicyRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['version', 'bigint', (row) => row.version],
  ['lane', 'text', (row) => row.lane],
  ['numbers', 'json', (row) => row.numbers],
  ['set_by', 'text', (row) => row.by],
  ['why', 'text', (row) => row.why],
  ['set_at', 'timestamptz', (row) => row.setAt],
  ['generation', 'integer', (row) => row.generation],
  ['sequence', 'bigint', (row) => row.sequence],
];

/** A version stands as it was set: one that is there already stays. */
export async function savePolicies(db: Kysely<Database>, rows: readonly PolicyRow[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`
      insert into headway.policies ${rowsOf(columns, chunk)}
      on conflict (tenant, version) do nothing`.execute(db);
}

import type { PolicyNumbers } from '@headway/contracts';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { PolicyRow } from '../rows.ts';
import type { Database, PoliciesTable } from '../tables.ts';
import { storableText } from '../write/unnest.ts';

/** The newest change of the tenant's own policy and of each lane's, that of the tenant first; at most `limit`. */
export async function newestPolicies(db: Kysely<Database>, tenant: string, limit: number): Promise<PolicyRow[]> {
  const { rows } = await sql<Selectable<PoliciesTable>>`
    select distinct on (lane) * from headway.policies where tenant = ${storableText(tenant)}
    order by lane nulls first, version desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    tenant: row.tenant,
    version: row.version,
    lane: row.lane,
    numbers: row.numbers as Partial<PolicyNumbers> | null,
    by: row.set_by,
    why: row.why,
    setAt: row.set_at.getTime(),
    generation: row.generation,
    sequence: row.sequence,
  }));
}

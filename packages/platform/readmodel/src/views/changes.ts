import { type Kysely, type Selectable, sql } from 'kysely';
import type { WorkRow } from '../rows.ts';
import type { Database, WorksTable } from '../tables.ts';
import { storableText } from '../write/unnest.ts';
import { readWork } from '../write/works.ts';
import type { ChangeWindow } from './signals.ts';

/** The number of the newest committed change; 0 before the first. */
export async function newestChange(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ change: number }>`select change from headway.changes`.execute(db);
  return rows[0]?.change ?? 0;
}

/** Works of a tenant that changed after `after`, up to `upTo`, as they stand now. */
export async function changedWorks(
  db: Kysely<Database>,
  { tenant, after, upTo, from, limit }: ChangeWindow,
): Promise<WorkRow[]> {
  const { rows } = await sql<Selectable<WorksTable>>`
    select * from headway.works
    where tenant = ${storableText(tenant)} and change > ${after} and change <= ${upTo}
      and (change, work) > (${from.change}, ${storableText(from.id)})
    order by change, work limit ${limit}`.execute(db);
  return rows.map(readWork);
}

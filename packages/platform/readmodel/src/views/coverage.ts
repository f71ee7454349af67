import { type Kysely, sql } from 'kysely';
import type { Database } from '../tables.ts';
import { SIGNALLER } from '../write/positions.ts';
import { storableText } from '../write/unnest.ts';

export interface CoverageQuery {
  readonly tenant: string;
  /** One work, or `null` for all of the tenant. */
  readonly work: string | null;
  /** Evidence up to this sequence of EVIDENCE. */
  readonly sequence: number;
}

/** A work that stands still keeps nobody from reading the others. */
const notHeld = sql`not exists (
  select from headway.dead_letters as letters
  where letters.state = 'open' and letters.reader in ('projection', 'classifier')
    and letters.tenant = works.tenant and letters.work = works.work
)`;

/**
 * Whether the classifier has covered the evidence up to a sequence: `null` while it has not, else the sequence of
 * RECORD by which it had, 0 where there was nothing to cover.
 */
export async function classifiedBy(
  db: Kysely<Database>,
  { tenant, work, sequence }: CoverageQuery,
): Promise<number | null> {
  const concerned = sql`tenant = ${storableText(tenant)} and ${
    work === null ? sql`true` : sql`work = ${storableText(work)}`
  }`;
  const { rows } = await sql<{ waiting: boolean; covered_by: number | null }>`
    select
      exists (
        select from headway.works
        where ${concerned} and covered < last_sequence and ${work === null ? notHeld : sql`true`}
          and first_sequence <= ${sequence} and covered < least(last_sequence, ${sequence}::bigint)
      ) as waiting,
      (select max(covered_by) from headway.works where ${concerned}) as covered_by`.execute(db);
  const row = rows[0];
  return row === undefined || row.waiting ? null : (row.covered_by ?? 0);
}

/**
 * Up to which sequence of RECORD the tenant's signaller has seen everything of the tenant. It goes on with others where it
 * cannot judge a message of this one.
 */
export async function signalledUpTo(db: Kysely<Database>, tenant: string): Promise<number> {
  const { rows } = await sql<{ covered: number | null }>`
    select least(
      greatest(
        (select covered from headway.signal_coverage where tenant = ${storableText(tenant)}),
        (select sequence from headway.positions where reader = ${SIGNALLER} and stream = 'RECORD')
      ),
      (
        select min(sequence) - 1 from headway.dead_letters
        where state = 'open' and reader = 'signaller' and stream = 'RECORD' and tenant = ${storableText(tenant)}
      )
    ) as covered`.execute(db);
  return rows[0]?.covered ?? 0;
}

import type { DeadLetterView, LetterPlace, LetterReader } from '@headway/contracts';
import { type Kysely, sql } from 'kysely';
import type { StandingLetter } from '../rows.ts';
import type { Database } from '../tables.ts';
import { storableText } from '../write/unnest.ts';

export interface LetterQuery {
  readonly tenant: string;
  readonly state: DeadLetterView['state'] | null;
  /** The last one of the page before. */
  readonly after: LetterPlace | null;
  readonly limit: number;
}

interface Row {
  readonly reader: LetterReader;
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
  readonly subject: string;
  readonly aggregate: string;
  readonly tenant: string | null;
  readonly work: string | null;
  readonly error: string;
  readonly state: DeadLetterView['state'];
  readonly attempts: number;
  readonly recorded_at: Date;
  readonly closed_at: Date | null;
  readonly closed_by: string | null;
  readonly why: string | null;
  readonly waiting: number;
}

const counted = sql`
  letters.*, (
    select count(*)::integer from headway.waiting as waiting
    where letters.state = 'open' and letters.reader = 'projection' and waiting.aggregate = letters.aggregate
      and (waiting.stream, waiting.generation, waiting.sequence)
        <> (letters.stream, letters.generation, letters.sequence)
  ) as waiting`;

/** Those of no tenant concern every operator: a message whose subject nobody knows. */
const visible = (tenant: string) => sql`(letters.tenant = ${storableText(tenant)} or letters.tenant is null)`;

/** Dead letters of a tenant, in the order of the log; at most `limit`, and where the next page starts. */
export async function listLetters(
  db: Kysely<Database>,
  { tenant, state, after, limit }: LetterQuery,
): Promise<{ rows: StandingLetter[]; next: LetterPlace | null }> {
  const inState = state === null ? sql`true` : sql`letters.state = ${state}`;
  const later =
    after === null
      ? sql`true`
      : sql`(letters.stream, letters.generation, letters.sequence, letters.reader)
          > (${after.stream}, ${after.generation}::integer, ${after.sequence}::bigint, ${after.reader})`;
  const { rows } = await sql<Row>`
    select ${counted} from headway.dead_letters as letters
    where ${visible(tenant)} and ${inState} and ${later}
    order by letters.stream, letters.generation, letters.sequence, letters.reader limit ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit).map(read);
  return { rows: page, next: rows.length > limit ? (page.at(-1) ?? null) : null };
}

export async function findLetter(
  db: Kysely<Database>,
  tenant: string,
  { reader, stream, generation, sequence }: LetterPlace,
): Promise<StandingLetter | null> {
  const { rows } = await sql<Row>`
    select ${counted} from headway.dead_letters as letters
    where ${visible(tenant)} and letters.reader = ${reader} and letters.stream = ${stream}
      and letters.generation = ${generation} and letters.sequence = ${sequence}`.execute(db);
  return rows[0] === undefined ? null : read(rows[0]);
}

/** The open dead letter that keeps a work from covering its evidence up to a sequence of EVIDENCE, if there is one. */
export async function letterBefore(
  db: Kysely<Database>,
  { tenant, work, sequence }: { readonly tenant: string; readonly work: string; readonly sequence: number },
): Promise<LetterPlace | null> {
  const { rows } = await sql<LetterPlace>`
    select reader, stream, generation, sequence from headway.dead_letters
    where state = 'open' and reader in ('projection', 'classifier')
      and tenant = ${storableText(tenant)} and work = ${storableText(work)}
      and (stream <> 'EVIDENCE' or sequence <= ${sequence})
    order by stream, generation, sequence limit 1`.execute(db);
  return rows[0] ?? null;
}

/** The open dead letter that keeps the signals of a tenant from going on, if there is one. */
export async function signalsLetter(db: Kysely<Database>, tenant: string): Promise<LetterPlace | null> {
  const { rows } = await sql<LetterPlace>`
    select reader, stream, generation, sequence from headway.dead_letters
    where state = 'open' and tenant = ${storableText(tenant)} and stream = 'RECORD'
      and (reader = 'signaller' or (reader = 'projection' and work is null))
    order by generation, sequence limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Open dead letters by reader, over all tenants. */
export async function countLetters(db: Kysely<Database>): Promise<ReadonlyMap<LetterReader, number>> {
  const { rows } = await sql<{ reader: LetterReader; count: number }>`
    select reader, count(*)::integer as count from headway.dead_letters where state = 'open' group by reader`.execute(
    db,
  );
  return new Map(rows.map(({ reader, count }) => [reader, count]));
}

const read = ({ aggregate: key, tenant, work, recorded_at, closed_at, closed_by, ...row }: Row): StandingLetter => ({
  ...row,
  aggregate: { key, tenant, work },
  recordedAt: recorded_at.getTime(),
  closedAt: closed_at?.getTime() ?? null,
  closedBy: closed_by,
});

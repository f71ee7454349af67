import { type Kysely, type Selectable, sql } from 'kysely';
import type { MemberRow, SignalKey, SignalRow } from '../rows.ts';
import type { Database, SignalsTable } from '../tables.ts';
import { type Column, chunksOf, rowsOf, storableText } from './unnest.ts';

const key: readonly Column<SignalRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['signal', 'text', (row) => row.signal],
];
const facts: readonly Column<SignalRow>[] = [
  ['kind', 'text', (row) => row.kind],
  ['state', 'text', (row) => row.state],
  ['incarnation', 'bigint', (row) => row.incarnation],
  ['rule', 'text', (row) => row.rule],
  ['gate', 'text', (row) => row.gate],
  ['signature', 'text', (row) => row.signature],
  ['diff', 'text', (row) => row.diff],
  ['count', 'integer', (row) => row.count],
  ['reason', 'text', (row) => row.reason],
  ['recipients', 'json', (row) => row.recipients],
  ['raised_sequence', 'bigint', (row) => row.raisedSequence],
  ['raised_at', 'timestamptz', (row) => row.raisedAt],
  ['closed_at', 'timestamptz', (row) => row.closedAt],
  ['closing', 'json', (row) => row.closing],
  ['change', 'bigint', (row) => row.change],
];
const recipientColumns: readonly Column<SignalKey & { readonly recipient: string }>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['recipient', 'text', (row) => row.recipient],
  ['signal', 'text', (row) => row.signal],
];
const replaced = sql.join(facts.map(([name]) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`));

/** The signals that exist among `keys`. */
export async function loadSignals(db: Kysely<Database>, keys: readonly SignalKey[]): Promise<SignalRow[]> {
  const found: SignalRow[] = [];
  for (const chunk of chunksOf(keys)) {
    const { rows } = await sql<Selectable<SignalsTable>>`
      select signals.* from headway.signals
      join unnest(
        ${chunk.map(({ tenant }) => storableText(tenant))}::text[],
        ${chunk.map(({ signal }) => storableText(signal))}::text[]
      ) as wanted(tenant, signal) using (tenant, signal)`.execute(db);
    found.push(...rows.map(readSignal));
  }
  return found;
}

/** Replaces whole rows. Each signal at most once in `rows`. */
export async function saveSignals(db: Kysely<Database>, rows: readonly SignalRow[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`
      insert into headway.signals ${rowsOf([...key, ...facts], chunk)}
      on conflict (tenant, signal) do update set ${replaced}`.execute(db);
  const recipients = rows.flatMap(({ tenant, signal, recipients: names }) =>
    names.map((recipient) => ({ tenant, recipient, signal })),
  );
  for (const chunk of chunksOf(recipients))
    await sql`
      insert into headway.signal_recipients ${rowsOf(recipientColumns, chunk)}
      on conflict (tenant, recipient, signal) do nothing`.execute(db);
}

const memberColumns: readonly Column<MemberRow>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['signal', 'text', (row) => row.signal],
  ['work', 'text', (row) => row.work],
  ['present', 'boolean', (row) => row.present],
];

/** Each pair of signal and work at most once in `rows`. */
export async function saveMembers(db: Kysely<Database>, rows: readonly MemberRow[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`
      insert into headway.signal_members ${rowsOf(memberColumns, chunk)}
      on conflict (tenant, signal, work) do update set present = excluded.present`.execute(db);
}

export interface SignalCoverage {
  readonly tenant: string;
  /** Everything of the tenant up to this sequence of RECORD was seen by its signaller. */
  readonly covered: number;
}

const coverageColumns: readonly Column<SignalCoverage>[] = [
  ['tenant', 'text', (row) => row.tenant],
  ['covered', 'bigint', (row) => row.covered],
];

/** Each tenant at most once in `rows`. */
export async function coverSignals(db: Kysely<Database>, rows: readonly SignalCoverage[]): Promise<void> {
  for (const chunk of chunksOf(rows))
    await sql`
      insert into headway.signal_coverage ${rowsOf(coverageColumns, chunk)}
      on conflict (tenant) do update set covered = greatest(signal_coverage.covered, excluded.covered)`.execute(db);
}

export function readSignal(row: Selectable<SignalsTable>): SignalRow {
  return {
    tenant: row.tenant,
    signal: row.signal,
    kind: row.kind as SignalRow['kind'],
    state: row.state as SignalRow['state'],
    incarnation: row.incarnation,
    rule: row.rule as SignalRow['rule'],
    gate: row.gate,
    signature: row.signature,
    diff: row.diff,
    count: row.count,
    reason: row.reason,
    recipients: row.recipients,
    raisedSequence: row.raised_sequence,
    raisedAt: row.raised_at.getTime(),
    closedAt: row.closed_at?.getTime() ?? null,
    closing: row.closing as SignalRow['closing'],
    change: row.change,
  };
}

import { type Kysely, type Selectable, sql } from 'kysely';
import type { SignalRow } from '../rows.ts';
import type { Database, SignalsTable } from '../tables.ts';
import { readSignal } from '../write/signals.ts';
import { storableText } from '../write/unnest.ts';

/** A signal with the works in it; for a closed one those that were in it when it closed. */
export interface SignalWithWorks extends SignalRow {
  readonly works: readonly string[];
}

export interface SignalPlace {
  readonly raisedSequence: number;
  readonly signal: string;
}

export interface SignalQuery {
  readonly tenant: string;
  readonly state: SignalRow['state'] | null;
  readonly kind?: SignalRow['kind'] | undefined;
  /** Signals that the work is in, or was in when they closed. */
  readonly work?: string | undefined;
  /** Signals that this identity may answer. */
  readonly to?: string | undefined;
  readonly after: SignalPlace | null;
  readonly limit: number;
}

type Found = Selectable<SignalsTable> & { works: string[] | null };

const withWorks = sql`
  signals.*, (
    select array_agg(members.work order by members.work) from headway.signal_members as members
    where members.tenant = signals.tenant and members.signal = signals.signal and members.present
  ) as works`;
const read = (row: Found): SignalWithWorks => ({ ...readSignal(row), works: row.works ?? [] });

/** Signals, the newest first; at most `limit`, and where the next page starts. */
export async function listSignals(
  db: Kysely<Database>,
  { tenant, state, kind, work, to, after, limit }: SignalQuery,
): Promise<{ rows: SignalWithWorks[]; next: SignalPlace | null }> {
  const inState = state === null ? sql`true` : sql`state = ${state}`;
  const ofKind = kind === undefined ? sql`true` : sql`kind = ${kind}`;
  const ofWork =
    work === undefined
      ? sql`true`
      : sql`exists (
          select from headway.signal_members as members
          where members.tenant = signals.tenant and members.signal = signals.signal and members.present
            and members.work = ${storableText(work)})`;
  const toWhom =
    to === undefined
      ? sql`true`
      : sql`exists (
          select from headway.signal_recipients as recipients
          where recipients.tenant = signals.tenant and recipients.signal = signals.signal
            and recipients.recipient = ${storableText(to)})`;
  const earlier =
    after === null
      ? sql`true`
      : sql`(raised_sequence, signal) < (${after.raisedSequence}, ${storableText(after.signal)})`;
  const { rows } = await sql<Found>`
    select ${withWorks} from headway.signals as signals
    where tenant = ${storableText(tenant)} and ${inState} and ${ofKind} and ${ofWork} and ${toWhom} and ${earlier}
    order by raised_sequence desc, signal desc limit ${limit + 1}`.execute(db);
  const page = rows.slice(0, limit).map(read);
  const last = page.at(-1);
  return {
    rows: page,
    next:
      rows.length > limit && last !== undefined ? { raisedSequence: last.raisedSequence, signal: last.signal } : null,
  };
}

export async function findSignal(
  db: Kysely<Database>,
  tenant: string,
  signal: string,
): Promise<SignalWithWorks | null> {
  const { rows } = await sql<Found>`
    select ${withWorks} from headway.signals as signals
    where tenant = ${storableText(tenant)} and signal = ${storableText(signal)}`.execute(db);
  return rows[0] === undefined ? null : read(rows[0]);
}

/** A work on whose thread a signal is answered: one that is in it, else one that was. `null` = there is no such signal. */
export async function threadOf(db: Kysely<Database>, tenant: string, signal: string): Promise<string | null> {
  const { rows } = await sql<{ work: string }>`
    select work from headway.signal_members
    where tenant = ${storableText(tenant)} and signal = ${storableText(signal)}
    order by present desc, work limit 1`.execute(db);
  return rows[0]?.work ?? null;
}

/** Signals of a tenant that changed after `after`, up to `upTo`. */
export async function changedSignals(
  db: Kysely<Database>,
  { tenant, after, upTo, from, limit }: ChangeWindow,
): Promise<SignalWithWorks[]> {
  const { rows } = await sql<Found>`
    select ${withWorks} from headway.signals as signals
    where tenant = ${storableText(tenant)} and change > ${after} and change <= ${upTo}
      and (change, signal) > (${from.change}, ${storableText(from.id)})
    order by change, signal limit ${limit}`.execute(db);
  return rows.map(read);
}

/** A span of changes, read in pages: `from` is the last row of the page before (or `{change: after, id: ''}`). */
export interface ChangeWindow {
  readonly tenant: string;
  readonly after: number;
  readonly upTo: number;
  readonly from: { readonly change: number; readonly id: string };
  readonly limit: number;
}

import type { LetterPlace } from '@headway/contracts';
import { type Kysely, sql, type Transaction } from 'kysely';
import { readArchived } from '../archive.ts';
import { IDLE_IN_TRANSACTION } from '../connect.ts';
import type {
  ArchivedMessage,
  DeadLetterRow,
  IdentityRow,
  MemberRow,
  PolicyRow,
  SignalKey,
  SignalRow,
  TimelineRow,
  UsageSpanRow,
  WorkKey,
  WorkRow,
} from '../rows.ts';
import type { Database } from '../tables.ts';
import { archiveMessages } from './archive.ts';
import { type Closing, closeLetter, droppedAmong, keepDeadLetters } from './dead-letters.ts';
import { findHolds, hold, letWait, releaseHold, type WaitingRow } from './holds.ts';
import { findIdentities, type StandingIdentity, takeIdentities } from './identities.ts';
import { savePolicies } from './policies.ts';
import { movePlace, type Place, type ReaderPlace, readPlace, rememberPlace } from './positions.ts';
import { type Asked, cancelRebuild, requestRebuild } from './rebuilds.ts';
import { coverSignals, loadSignals, type SignalCoverage, saveMembers, saveSignals } from './signals.ts';
import { appendUsage } from './usage.ts';
import { appendTimeline, loadWorks, refreshOpenSignals, saveWorks } from './works.ts';

/** What may be read and written inside the transaction that moves a reader's position. */
export interface Changes {
  /** The number of this transaction: larger than that of every one that committed before it. */
  readonly change: number;
  archive(messages: readonly ArchivedMessage[]): Promise<void>;
  keepDeadLetters(letters: readonly DeadLetterRow[]): Promise<void>;
  closeLetter(letter: LetterPlace, closing: Closing): Promise<boolean>;
  droppedAmong(messages: readonly ArchivedMessage[]): Promise<readonly Omit<LetterPlace, 'reader'>[]>;
  /** Those of the aggregates, by key, that are held: their messages wait. */
  findHolds(keys: readonly string[]): Promise<ReadonlySet<string>>;
  hold(letters: readonly DeadLetterRow[]): Promise<void>;
  letWait(rows: readonly WaitingRow[]): Promise<void>;
  /** Ends a hold. Answers with where the messages stand that waited, in the order in which to handle them. */
  releaseHold(aggregate: string): Promise<readonly WaitingRow[]>;
  /** Archived messages by where they stand, in the order given. */
  readArchived(places: readonly Omit<WaitingRow, 'aggregate'>[]): Promise<ArchivedMessage[]>;
  /** Answers with the indexes of the identities that were new; the first of equal keys stands for ever. */
  takeIdentities(identities: readonly IdentityRow[]): Promise<ReadonlySet<number>>;
  findIdentities(keys: readonly string[]): Promise<Map<string, StandingIdentity>>;
  loadWorks(keys: readonly WorkKey[]): Promise<WorkRow[]>;
  saveWorks(rows: readonly WorkRow[]): Promise<void>;
  appendTimeline(rows: readonly TimelineRow[]): Promise<void>;
  appendUsage(rows: readonly UsageSpanRow[]): Promise<void>;
  savePolicies(rows: readonly PolicyRow[]): Promise<void>;
  loadSignals(keys: readonly SignalKey[]): Promise<SignalRow[]>;
  saveSignals(rows: readonly SignalRow[]): Promise<void>;
  saveMembers(rows: readonly MemberRow[]): Promise<void>;
  refreshOpenSignals(keys: readonly WorkKey[]): Promise<void>;
  coverSignals(rows: readonly SignalCoverage[]): Promise<void>;
  rememberPlace(reader: string, stream: string, at: Place): Promise<void>;
  requestRebuild(projection: string, asked: Asked): Promise<void>;
  cancelRebuild(projection: string, asked: Asked): Promise<void>;
}

export interface Step {
  readonly reader: string;
  readonly stream: string;
  readonly from: Place;
  readonly to: ReaderPlace;
}

export type Advance =
  | { readonly outcome: 'advanced'; readonly change: number }
  /** The position was not `from`: another writer moved it. Nothing was written. */
  | { readonly outcome: 'fenced'; readonly at: ReaderPlace };

/**
 * Moves a reader's position and writes what `write` writes, all or nothing. Of two writers that start from the same
 * position one advances and the other is fenced. An error (the database is gone, a broken invariant) is thrown and
 * leaves nothing behind, except where the answer to the commit itself was lost: read the position again before
 * another try.
 */
export async function advance(
  db: Kysely<Database>,
  { reader, stream, from, to }: Step,
  write: (changes: Changes) => Promise<void>,
): Promise<Advance> {
  const change = await endingWhoStandsStill(db, async (tx) => {
    if (!(await movePlace(tx, reader, stream, from, to))) return null;
    // From here to the commit this transaction is the only one that changes read models: the numbers are taken in the
    // order of the commits, so that whoever has read up to a number never misses a row that comes later with a lower one.
    const number = await nextChange(tx);
    await write(changesOver(tx, number));
    return number;
  });
  if (change === null) return { outcome: 'fenced', at: await readPlace(db, reader, stream) };
  return { outcome: 'advanced', change };
}

/**
 * Runs a transaction. Where it waited for another one as long as a statement may, those are ended whose process stands still
 * in the middle of a statement, of a COPY for one: no timeout of the server ends these, and what they hold is waited for
 * as long as they stand.
 */
async function endingWhoStandsStill<Value>(
  db: Kysely<Database>,
  run: (tx: Transaction<Database>) => Promise<Value>,
): Promise<Value> {
  try {
    return await db.transaction().execute(run);
  } catch (error) {
    // That it waited is what is told; whoever could not be ended now is met again by the next try.
    if (isTimeout(error)) await endStandingStill(db).catch(() => undefined);
    throw error;
  }
}

/** SQLSTATE of a statement that was cancelled. */
const isTimeout = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '57014';

async function endStandingStill(db: Kysely<Database>): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
      and state = 'active' and wait_event in ('ClientRead', 'ClientWrite') and backend_xid is not null
      and query_start < clock_timestamp() - make_interval(secs => ${IDLE_IN_TRANSACTION / 1_000})`.execute(db);
}

export async function nextChange(tx: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ change: number }>`
    update headway.changes set change = change + 1 returning change`.execute(tx);
  const change = rows[0]?.change;
  if (change === undefined) throw new Error('The change counter is missing: run the migrations.');
  return change;
}

/** Waits until no other transaction changes read models, and keeps others waiting until the end of this one. */
export async function lockChanges(tx: Kysely<Database>): Promise<void> {
  await sql`select from headway.changes for update`.execute(tx);
}

export function changesOver(tx: Kysely<Database>, change: number): Changes {
  return {
    change,
    archive: (messages) => archiveMessages(tx, messages),
    keepDeadLetters: (letters) => keepDeadLetters(tx, letters),
    closeLetter: (letter, closing) => closeLetter(tx, letter, closing),
    droppedAmong: (messages) => droppedAmong(tx, messages),
    findHolds: (keys) => findHolds(tx, keys),
    hold: (letters) => hold(tx, letters),
    letWait: (rows) => letWait(tx, rows),
    releaseHold: (aggregate) => releaseHold(tx, aggregate),
    readArchived: (places) => readArchived(tx, places),
    takeIdentities: (identities) => takeIdentities(tx, identities),
    findIdentities: (keys) => findIdentities(tx, keys),
    loadWorks: (keys) => loadWorks(tx, keys),
    saveWorks: (rows) => saveWorks(tx, rows),
    appendTimeline: (rows) => appendTimeline(tx, rows),
    appendUsage: (rows) => appendUsage(tx, rows),
    savePolicies: (rows) => savePolicies(tx, rows),
    loadSignals: (keys) => loadSignals(tx, keys),
    saveSignals: (rows) => saveSignals(tx, rows),
    saveMembers: (rows) => saveMembers(tx, rows),
    refreshOpenSignals: (keys) => refreshOpenSignals(tx, keys, change),
    coverSignals: (rows) => coverSignals(tx, rows),
    rememberPlace: (reader, stream, at) => rememberPlace(tx, reader, stream, at),
    requestRebuild: (projection, asked) => requestRebuild(tx, projection, asked),
    cancelRebuild: (projection, asked) => cancelRebuild(tx, projection, asked),
  };
}

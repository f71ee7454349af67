import type { LetterPlace, LetterReader, StreamPosition } from '@headway/contracts';
import { type PostgresPool, sql } from 'kysely';
import { type IdentityArchive, identityArchive, readArchive } from './archive.ts';
import { type BusRecords, busRecords } from './bus/records.ts';
import { openPool, over, SILENCE } from './connect.ts';
import { type Rebuilds, rebuildsOver } from './generations/rebuilds.ts';
import type { ArchivedMessage, PolicyRow, StandingLetter, WorkRow } from './rows.ts';
import { changedWorks, newestChange } from './views/changes.ts';
import { type Counts, countAll } from './views/counts.ts';
import { type CoverageQuery, classifiedBy, signalledUpTo } from './views/coverage.ts';
import {
  countLetters,
  findLetter,
  type LetterQuery,
  letterBefore,
  listLetters,
  signalsLetter,
} from './views/dead-letters.ts';
import { absentFromArchive, type GapQuery } from './views/gaps.ts';
import { newestPolicies } from './views/policies.ts';
import { type PositionFate, positionFate } from './views/position-fate.ts';
import {
  type DonePlace,
  listDone,
  type ReportCounts,
  type ReportWindow,
  reportCounts,
  usageSpans,
} from './views/report.ts';
import {
  type ChangeWindow,
  changedSignals,
  findSignal,
  listSignals,
  type SignalPlace,
  type SignalQuery,
  type SignalWithWorks,
  threadOf,
} from './views/signals.ts';
import {
  findWork,
  listTimeline,
  listWorks,
  type StandingEntry,
  type TimelineQuery,
  type WorkPlace,
  type WorkQuery,
} from './views/works.ts';
import { type Advance, advance, type Changes, type Step } from './write/advance.ts';
import { findIdentities, type StandingIdentity } from './write/identities.ts';
import { type Place, type ReaderPlace, readPlace } from './write/positions.ts';

/** Connections of one process, unless told otherwise. */
export const DEFAULT_CONNECTIONS = 8;

/** For the one who writes: a position and everything that follows from it move together. */
export interface ReadModelWriter {
  place(reader: string, stream: string): Promise<ReaderPlace>;
  advance(step: Step, write: (changes: Changes) => Promise<void>): Promise<Advance>;
}

/** For those who only read. Every query is about one tenant. Throws when the store is away. */
export interface ReadModelViews {
  place(reader: string, stream: string): Promise<ReaderPlace>;
  listWorks(query: WorkQuery): Promise<{ rows: WorkRow[]; next: WorkPlace | null }>;
  findWork(tenant: string, work: string): Promise<WorkRow | null>;
  listTimeline(query: TimelineQuery): Promise<{ rows: StandingEntry[]; next: number | null }>;
  listSignals(query: SignalQuery): Promise<{ rows: SignalWithWorks[]; next: SignalPlace | null }>;
  findSignal(tenant: string, signal: string): Promise<SignalWithWorks | null>;
  /** A work on whose thread a signal is answered; `null` = there is no such signal. */
  threadOf(tenant: string, signal: string): Promise<string | null>;
  newestPolicies(tenant: string, limit: number): Promise<PolicyRow[]>;
  reportCounts(window: ReportWindow): Promise<ReportCounts>;
  listDone(
    query: ReportWindow & { readonly after: DonePlace | null; readonly limit: number },
  ): Promise<{ rows: WorkRow[]; next: DonePlace | null }>;
  usageSpans(window: ReportWindow): Promise<{ agent: string; from: number; to: number }[]>;
  newestChange(): Promise<number>;
  changedWorks(window: ChangeWindow): Promise<WorkRow[]>;
  changedSignals(window: ChangeWindow): Promise<SignalWithWorks[]>;
  classifiedBy(query: CoverageQuery): Promise<number | null>;
  signalledUpTo(tenant: string): Promise<number>;
  listLetters(query: LetterQuery): Promise<{ rows: StandingLetter[]; next: LetterPlace | null }>;
  findLetter(tenant: string, letter: LetterPlace): Promise<StandingLetter | null>;
  letterBefore(query: { tenant: string; work: string; sequence: number }): Promise<LetterPlace | null>;
  signalsLetter(tenant: string): Promise<LetterPlace | null>;
  countLetters(): Promise<ReadonlyMap<LetterReader, number>>;
  absentFromArchive(query: GapQuery): Promise<readonly number[]>;
  countAll(): Promise<Counts>;
  positionFate(position: StreamPosition): Promise<PositionFate>;
}

export interface ReadModel {
  readonly writer: ReadModelWriter;
  readonly views: ReadModelViews;
  readonly identities: IdentityArchive;
  readonly rebuilds: Rebuilds;
  readonly bus: BusRecords;
  findIdentities(keys: readonly string[]): Promise<Map<string, StandingIdentity>>;
  readArchive(stream: string, after?: Place): AsyncGenerator<ArchivedMessage>;
  /** Resolves when Postgres answers and the schema is there; throws with the reason otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Opening {
  readonly url: string;
  readonly connections?: number;
  /** Shown in the server's list of connections. */
  readonly name?: string;
  /** How long a connection in use may be silent before it is given up; longer than any statement may run. */
  readonly silenceMs?: number;
}

/** How a read model reaches its store. */
export interface Pools {
  readonly pool: PostgresPool;
  /** For statements that take their time; `pool` unless told. */
  readonly patient?: PostgresPool;
  /** How often a connection that holds a lock says something. Milliseconds. */
  readonly keepAliveMs?: number;
}

/** Well within the silence after which a connection is given up. */
const keepAliveOf = (silenceMs: number) => silenceMs / 4;

/** Opens the read model. Connects with the first statement; run `migrate` before. */
export const openReadModel = ({ connections = DEFAULT_CONNECTIONS, name = 'headway', ...more }: Opening): ReadModel =>
  readModelOver({
    pool: openPool({ ...more, connections, name }),
    patient: openPool({ ...more, connections: 1, name, patient: true }),
    ...(more.silenceMs === undefined ? {} : { keepAliveMs: keepAliveOf(more.silenceMs) }),
  });

/** The read model over pools of connections that are given: for tests that let statements fail. */
export function readModelOver({ pool, patient, keepAliveMs = keepAliveOf(SILENCE) }: Pools): ReadModel {
  const db = over(pool);
  const slow = patient === undefined ? db : over(patient);
  return {
    writer: {
      place: (reader, stream) => readPlace(db, reader, stream),
      advance: (step, write) => advance(db, step, write),
    },
    views: {
      place: (reader, stream) => readPlace(db, reader, stream),
      listWorks: (query) => listWorks(db, query),
      findWork: (tenant, work) => findWork(db, tenant, work),
      listTimeline: (query) => listTimeline(db, query),
      listSignals: (query) => listSignals(db, query),
      findSignal: (tenant, signal) => findSignal(db, tenant, signal),
      threadOf: (tenant, signal) => threadOf(db, tenant, signal),
      newestPolicies: (tenant, limit) => newestPolicies(db, tenant, limit),
      reportCounts: (window) => reportCounts(db, window),
      listDone: (query) => listDone(db, query),
      usageSpans: (window) => usageSpans(db, window),
      newestChange: () => newestChange(db),
      changedWorks: (window) => changedWorks(db, window),
      changedSignals: (window) => changedSignals(db, window),
      classifiedBy: (query) => classifiedBy(db, query),
      signalledUpTo: (tenant) => signalledUpTo(db, tenant),
      listLetters: (query) => listLetters(db, query),
      findLetter: (tenant, letter) => findLetter(db, tenant, letter),
      letterBefore: (query) => letterBefore(db, query),
      signalsLetter: (tenant) => signalsLetter(db, tenant),
      countLetters: () => countLetters(db),
      absentFromArchive: (query) => absentFromArchive(db, query),
      countAll: () => countAll(db),
      positionFate: (position) => positionFate(db, position),
    },
    identities: identityArchive(db),
    rebuilds: rebuildsOver({ db, slow, keepAliveMs }),
    bus: busRecords(db, keepAliveMs),
    findIdentities: (keys) => findIdentities(db, keys),
    readArchive: (stream, after) => readArchive(db, stream, after),
    ping: async () => {
      await sql`select change from headway.changes`.execute(db);
    },
    close: async () => {
      await db.destroy();
      if (slow !== db) await slow.destroy();
    },
  };
}

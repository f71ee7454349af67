import type { StreamPosition } from '@headway/contracts';
import { type PostgresPool, sql } from 'kysely';
import { type IdentityArchive, identityArchive, readArchive } from './archive.ts';
import { type BusRecords, busRecords } from './bus/records.ts';
import { openPool, over } from './connect.ts';
import type { ArchivedMessage, PolicyRow, WorkRow } from './rows.ts';
import { changedWorks, newestChange } from './views/changes.ts';
import { type CoverageQuery, classifiedBy, signalledUpTo } from './views/coverage.ts';
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
  positionFate(position: StreamPosition): Promise<PositionFate>;
}

export interface ReadModel {
  readonly writer: ReadModelWriter;
  readonly views: ReadModelViews;
  readonly identities: IdentityArchive;
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

/** Opens the read model. Connects with the first statement; run `migrate` before. */
export const openReadModel = ({ connections = DEFAULT_CONNECTIONS, name = 'headway', ...more }: Opening): ReadModel =>
  readModelOver(openPool({ ...more, connections, name }));

/** The read model over a pool of connections that is given: for tests that let statements fail. */
export function readModelOver(pool: PostgresPool): ReadModel {
  const db = over(pool);
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
      positionFate: (position) => positionFate(db, position),
    },
    identities: identityArchive(db),
    bus: busRecords(db),
    findIdentities: (keys) => findIdentities(db, keys),
    readArchive: (stream, after) => readArchive(db, stream, after),
    ping: async () => {
      await sql`select change from headway.changes`.execute(db);
    },
    close: () => db.destroy(),
  };
}

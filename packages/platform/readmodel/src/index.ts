export type { IdentityArchive } from './archive.ts';
export { createLevel, type Level, levelOf } from './bus/level.ts';
export type { Found, StreamPlan } from './bus/plan.ts';
export type { ArchivedEnd, BusRecords, Gap } from './bus/records.ts';
export {
  planRestore,
  type RestoredStream,
  type RestoreParts,
  type RestoreProgress,
  restoreBus,
} from './bus/restore.ts';
export { type Trimmed, trimBus, YOUNGEST_TRIMMED_SECONDS } from './bus/trim.ts';
export { isDataRefusal, isStoreAway, openPool } from './connect.ts';
export type { KnownIdentities, Rebuild, RebuildRow, Rebuilds } from './generations/rebuilds.ts';
export { FLEET } from './generations/tables.ts';
export { migrate } from './migrate.ts';
export {
  openReadModel,
  type ReadModel,
  type ReadModelViews,
  type ReadModelWriter,
  readModelOver,
} from './read-model.ts';
export type {
  ArchivedMessage,
  Checkpoint,
  DeadLetterRow,
  IdentityRow,
  MemberRow,
  PolicyRow,
  SignalKey,
  SignalRow,
  StandingLetter,
  TimelineRow,
  UsageSpanRow,
  WorkKey,
  WorkRow,
} from './rows.ts';
export type { LetterQuery } from './views/dead-letters.ts';
export { type DonePlace, REPORT_SPANS, type ReportCounts, type ReportWindow } from './views/report.ts';
export type { ChangeWindow, SignalPlace, SignalWithWorks } from './views/signals.ts';
export type { StandingEntry, WorkPlace } from './views/works.ts';
export type { Advance, Changes, Step } from './write/advance.ts';
export type { Closing } from './write/dead-letters.ts';
export { fromArchive } from './write/from-archive.ts';
export type { WaitingRow } from './write/holds.ts';
export type { StandingIdentity } from './write/identities.ts';
export { ARCHIVE_READER, nowhere, type Place, type ReaderPlace, SIGNALLER } from './write/positions.ts';
export type { SignalCoverage } from './write/signals.ts';
export { storableText } from './write/unnest.ts';

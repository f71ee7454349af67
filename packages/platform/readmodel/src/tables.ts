import type { Generated, JSONColumnType } from 'kysely';

/** The tables of the schema `headway`, as statements see them. `bigint` columns are numbers (see `connect`). */
export interface Database {
  positions: PositionsTable;
  changes: ChangesTable;
  archive: ArchiveTable;
  identities: IdentitiesTable;
  dead_letters: DeadLettersTable;
  works: WorksTable;
  timeline: TimelineTable;
  signals: SignalsTable;
  signal_members: SignalMembersTable;
  signal_coverage: SignalCoverageTable;
  bus_losses: BusLossesTable;
  bus_gaps: BusGapsTable;
  bus_generations: BusGenerationsTable;
  bus_kept: BusKeptTable;
  bus_trims: BusTrimsTable;
  signal_recipients: SignalRecipientsTable;
  usage_spans: UsageSpansTable;
  policies: PoliciesTable;
}

export interface PositionsTable {
  reader: string;
  stream: string;
  generation: number;
  sequence: number;
  created: string | null;
  updated_at: Generated<Date>;
}

export interface BusLossesTable {
  stream: string;
  generation: number;
  seen: number;
  noted_at: Generated<Date>;
}

export interface BusGapsTable {
  stream: string;
  generation: number;
  first: number;
  last: number;
  found_at: Generated<Date>;
}

export interface BusGenerationsTable {
  stream: string;
  generation: number;
  last_sequence: number;
  ended_at: Generated<Date>;
}

export interface BusKeptTable {
  id: Generated<number>;
  stream: string;
  generation: number;
  sequence: number;
  agreed: number;
  subject: string;
  headers: JSONColumnType<Record<string, string>>;
  message_id: string | null;
  payload: Buffer;
  recorded_at: Date;
  fate: string;
  appended_at: number | null;
}

export interface BusTrimsTable {
  stream: string;
  generation: number;
  sequence: number;
  trimmed_at: Generated<Date>;
}

export interface ChangesTable {
  singleton: Generated<boolean>;
  change: number;
}

export interface ArchiveTable {
  stream: string;
  generation: number;
  sequence: number;
  subject: string;
  headers: JSONColumnType<Record<string, string>>;
  message_id: string | null;
  payload: Buffer;
  recorded_at: Date;
}

export interface IdentitiesTable {
  key: Buffer;
  content: Buffer;
  tenant: string;
  work: string;
  generation: number;
  sequence: number;
  reported_at: string | null;
}

export interface DeadLettersTable {
  id: Generated<number>;
  stream: string;
  generation: number;
  sequence: number;
  subject: string;
  error: string;
  recorded_at: Date;
}

export interface WorksTable {
  tenant: string;
  work: string;
  worker: string | null;
  orchestrator: string | null;
  lane: string | null;
  base: string | null;
  incarnation: number;
  criteria: JSONColumnType<readonly string[]>;
  checkpoint: JSONColumnType<object> | null;
  cost_usd: number | null;
  first_sequence: number | null;
  last_sequence: number | null;
  class: string;
  rank: number;
  rule: string | null;
  assessment: JSONColumnType<object> | null;
  since: string | null;
  since_sequence: number | null;
  attempts: number;
  covered: number;
  covered_by: number;
  open_signal: string | null;
  phase: string;
  ledger: JSONColumnType<object> | null;
  done_at: Date | null;
  updated_at: Date;
  change: number;
}

export interface TimelineTable {
  entry: Generated<number>;
  tenant: string;
  work: string;
  stream: string;
  generation: number;
  sequence: number;
  kind: string;
  type: string;
  id: string;
  incarnation: number | null;
  time: string | null;
  recorded_at: Date;
  data: JSONColumnType<object>;
}

export interface SignalsTable {
  tenant: string;
  signal: string;
  kind: string;
  state: string;
  incarnation: number | null;
  rule: string | null;
  gate: string | null;
  signature: string | null;
  diff: string | null;
  count: number | null;
  reason: string;
  recipients: JSONColumnType<readonly string[]>;
  raised_sequence: number;
  raised_at: Date;
  closed_at: Date | null;
  closing: JSONColumnType<object> | null;
  change: number;
}

export interface SignalMembersTable {
  tenant: string;
  signal: string;
  work: string;
  present: boolean;
}

export interface SignalCoverageTable {
  tenant: string;
  covered: number;
}

export interface SignalRecipientsTable {
  tenant: string;
  recipient: string;
  signal: string;
}

export interface UsageSpansTable {
  tenant: string;
  work: string;
  started_at: Date;
  ended_at: Date;
  cost_usd: number | null;
}

export interface PoliciesTable {
  tenant: string;
  version: number;
  lane: string | null;
  numbers: JSONColumnType<object> | null;
  set_by: string;
  why: string;
  set_at: Date;
  generation: number;
  sequence: number;
}

import type {
  Aggregate,
  Assessment,
  DeadLetterView,
  Ledger,
  LetterPlace,
  PolicyNumbers,
  RuleId,
  SignalKind,
  SignalView,
  TimelineEntry,
  TrajectoryClass,
} from '@headway/contracts';

/** A message of the log, as it is archived: subject, headers and payload byte for byte. */
export interface ArchivedMessage {
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Under which the writer sent it, where it gave one. */
  readonly messageId?: string;
  readonly payload: Uint8Array;
  /** Milliseconds since the Unix epoch. */
  readonly recordedAt: number;
}

/** Keys and contents are SHA-256 in hex (see `identityKey` and `contentDigest` of contracts). */
export interface IdentityRow {
  readonly key: string;
  readonly content: string;
  readonly tenant: string;
  readonly work: string;
  readonly generation: number;
  /** Where in EVIDENCE it was first seen. */
  readonly sequence: number;
  /** The time that the reporter gave, or `null`. */
  readonly reportedAt: string | null;
}

export interface DeadLetterRow extends LetterPlace {
  readonly subject: string;
  readonly aggregate: Aggregate;
  readonly error: string;
  /** When the log took the message; milliseconds since the Unix epoch. */
  readonly recordedAt: number;
}

/** A dead letter as it stands. */
export interface StandingLetter extends DeadLetterRow {
  readonly state: DeadLetterView['state'];
  readonly attempts: number;
  readonly waiting: number;
  readonly closedAt: number | null;
  readonly closedBy: string | null;
  readonly why: string | null;
}

export interface WorkKey {
  readonly tenant: string;
  readonly work: string;
}

export interface Checkpoint {
  readonly by: string;
  readonly note: string | null;
  readonly sequence: number;
  readonly time: string | null;
}

/** What is known of one work. The first group comes from EVIDENCE, the second from RECORD. */
export interface WorkRow extends WorkKey {
  readonly worker: string | null;
  readonly orchestrator: string | null;
  readonly lane: string | null;
  readonly base: string | null;
  readonly incarnation: number;
  readonly criteria: readonly string[];
  readonly checkpoint: Checkpoint | null;
  /** Sum of the measured costs; `null` while none was measured. */
  readonly costUsd: number | null;
  readonly ledger: Ledger;
  readonly firstSequence: number | null;
  readonly lastSequence: number | null;

  readonly class: TrajectoryClass;
  readonly rule: RuleId | null;
  readonly assessment: Assessment | null;
  readonly since: string | null;
  readonly sinceSequence: number | null;
  readonly attempts: number;
  /** When it was recorded as done, in the newest incarnation; `null` = it is not done. */
  readonly doneAt: number | null;
  /** The evidence that the assessment covers, and the sequence of RECORD that says so; 0 = none yet. */
  readonly covered: number;
  readonly coveredBy: number;
  /** Written by `refreshOpenSignals` alone. */
  readonly openSignal: string | null;

  /** Milliseconds since the Unix epoch, by the log's clock. */
  readonly updatedAt: number;
  readonly change: number;
}

export interface TimelineRow extends WorkKey {
  readonly stream: string;
  readonly generation: number;
  readonly sequence: number;
  readonly kind: TimelineEntry['kind'];
  readonly type: string;
  readonly id: string;
  readonly incarnation: number | null;
  readonly time: string | null;
  readonly recordedAt: number;
  readonly data: unknown;
}

export interface SignalKey {
  readonly tenant: string;
  readonly signal: string;
}

export interface SignalRow extends SignalKey {
  readonly kind: SignalKind;
  readonly state: SignalView['state'];
  readonly incarnation: number | null;
  readonly rule: RuleId | null;
  readonly gate: string | null;
  readonly signature: string | null;
  readonly diff: string | null;
  readonly count: number | null;
  readonly reason: string;
  readonly recipients: readonly string[];
  readonly raisedSequence: number;
  readonly raisedAt: number;
  readonly closedAt: number | null;
  readonly closing: Readonly<Record<string, unknown>> | null;
  readonly change: number;
}

export interface MemberRow extends SignalKey {
  readonly work: string;
  /** Still in it; for a closed signal: was in it when it closed. */
  readonly present: boolean;
}

/** The order of the fleet table: what needs a person comes first. */
const ranks: Readonly<Record<TrajectoryClass, number>> = {
  thrashing: 0,
  stagnating: 1,
  'awaiting-wake': 2,
  unknown: 3,
  slow: 4,
  productive: 5,
};
export const rankOf = (of: TrajectoryClass): number => ranks[of];

/** A time in which a work had usage. Milliseconds since the Unix epoch, as reported. */
export interface UsageSpanRow extends WorkKey {
  readonly startedAt: number;
  readonly endedAt: number;
  /** `null` = not measured. */
  readonly costUsd: number | null;
}

export interface PolicyRow {
  readonly tenant: string;
  readonly version: number;
  readonly lane: string | null;
  /** `null` = the lane, or the tenant, has none of its own any more. */
  readonly numbers: Partial<PolicyNumbers> | null;
  readonly by: string;
  readonly why: string;
  readonly setAt: number;
  readonly generation: number;
  readonly sequence: number;
}

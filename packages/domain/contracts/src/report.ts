import type { PositionText, SignalView } from './api.ts';
import type { Sizing } from './evidence.ts';
import type { Assessment, SignalKind, TrajectoryClass } from './trajectory.ts';

/** A delegation that was opened and of which no completion was reported. */
export interface OpenDelegation {
  readonly delegation: string;
  readonly child: string | null;
  /** When it was opened, as reported. */
  readonly since: string | null;
}

/** What a work has used up, over all its incarnations. Counted, never estimated. */
export interface Ledger {
  /** The estimate of the newest claim that gave one. */
  readonly sizing: Sizing | null;
  /** Errored attempts included. */
  readonly gateAttempts: number;
  readonly commits: number;
  /** Input and output tokens of the usage reports that measured both. */
  readonly tokens: number;
  readonly usageReports: number;
  /** Usage reports that left a number of tokens, or the cost, unmeasured. */
  readonly tokensUnmeasured: number;
  readonly costUnmeasured: number;
  readonly criteriaDeclared: number;
  /** As the newest `done` said; `null` = it did not. */
  readonly criteriaMet: number | null;
  /** Of the newest incarnation: the first {@link OPEN_DELEGATIONS}, and how many more. */
  readonly delegations: readonly OpenDelegation[];
  readonly moreDelegations: number;
}

export const OPEN_DELEGATIONS = 32;

export const emptyLedger: Ledger = {
  sizing: null,
  gateAttempts: 0,
  commits: 0,
  tokens: 0,
  usageReports: 0,
  tokensUnmeasured: 0,
  costUnmeasured: 0,
  criteriaDeclared: 0,
  criteriaMet: null,
  delegations: [],
  moreDelegations: 0,
};

export const efficiencyDimensions = ['gateAttempts', 'commits', 'tokens'] as const;
export type EfficiencyDimension = (typeof efficiencyDimensions)[number];

/** How a done work compares with its own estimate. Informational, never a gate. */
export interface Efficiency {
  /** Geometric mean of the scores, 0..1; `null` = `reason` says why there is none. */
  readonly efficiency: number | null;
  readonly reason: string | null;
  /** Score = min(1, baseline / actual). */
  readonly dimensions: readonly {
    readonly dimension: EfficiencyDimension;
    readonly baseline: number;
    readonly actual: number;
    readonly score: number;
  }[];
  readonly missing: readonly { readonly dimension: EfficiencyDimension; readonly reason: string }[];
  /** Criteria met / declared, 0..1; 1 where none were declared; `null` = `completionReason`. */
  readonly completion: number | null;
  readonly completionReason: string | null;
  /** Completion × efficiency; `null` where one of them is. */
  readonly trajectoryScore: number | null;
}

export interface WorkEfficiency extends Efficiency {
  readonly work: string;
  readonly phase: Assessment['phase'];
  /** When the classifier recorded it as done, by the log's clock. */
  readonly doneAt: string;
}

/** A number, or why there is none. */
export type Measured =
  | { readonly value: number; readonly reason: null }
  | { readonly value: null; readonly reason: string };

/** `GET /v1/report`: where the fleet stands, and what it took in the window. */
export interface FleetReport {
  /** Up to where the views cover the evidence. */
  readonly position: PositionText;
  readonly window: { readonly days: number; readonly from: string; readonly to: string };
  /** Every work there is, whenever it was reported. */
  readonly works: {
    readonly total: number;
    readonly byClass: Readonly<Record<TrajectoryClass, number>>;
    readonly byPhase: Readonly<Record<Assessment['phase'], number>>;
  };
  /** Signals raised in the window, by kind and by what has become of them. */
  readonly signals: {
    readonly raised: number;
    readonly byKind: Readonly<Record<SignalKind, Readonly<Record<SignalView['state'], number>>>>;
  };
  /** Of the signals raised in the window. From the log's own clock: recorded as raised until recorded as acknowledged. */
  readonly acknowledgement: {
    readonly clock: 'recorded';
    readonly acknowledged: number;
    readonly medianSeconds: Measured;
    readonly p90Seconds: Measured;
    readonly longestSeconds: Measured;
    readonly oldestOpenSeconds: Measured;
  };
  /** Works done in the window. The mean is over those on this page that have a score. */
  readonly efficiency: {
    readonly items: readonly WorkEfficiency[];
    /** Pass as `?cursor=` for more works; `null` = there are none. */
    readonly next: string | null;
    readonly scored: number;
    readonly unscored: number;
    readonly mean: Measured;
  };
  readonly cost: {
    readonly usd: Measured;
    readonly worksMeasured: number;
    /** Works with a usage report that left the cost unmeasured: `usd` is then less than what was spent. */
    readonly worksPartly: number;
    readonly worksUnmeasured: number;
  };
  /** The most works with usage under way at one time, and when; from the reported times of the usage reports. */
  readonly liveAtOnce: Measured & { readonly clock: 'reported'; readonly at: string | null; readonly spans: number };
}

/** Something that a person, or an orchestrator, may do by copying it. Headway itself does none of it. */
export interface Proposal {
  readonly kind: 'propose' | 'block';
  readonly title: string;
  /** What speaks for it: facts. */
  readonly because: string;
  /** For a shell. */
  readonly command: string;
  /** The same as a CloudEvent for `POST /v1/events`. */
  readonly event: Readonly<Record<string, unknown>>;
}

/** `GET /v1/works/{work}/recover`. */
export interface RecoverView {
  readonly work: string;
  readonly position: PositionText;
  readonly class: TrajectoryClass;
  readonly reason: string | null;
  /** The open signal that concerns the work. */
  readonly signal: SignalView | null;
  readonly proposals: readonly Proposal[];
  /** Why there are none. */
  readonly none: string | null;
  readonly openDelegations: readonly OpenDelegation[];
  /** Open delegations beyond those that are listed. */
  readonly moreDelegations: number;
}

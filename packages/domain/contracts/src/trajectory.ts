/** What the classifier says, and the messages it says it in. */

export const trajectoryClasses = ['productive', 'slow', 'stagnating', 'thrashing', 'awaiting-wake', 'unknown'] as const;
export type TrajectoryClass = (typeof trajectoryClasses)[number];

/** Rules in order of precedence, with the class each gives. */
export const ruleClasses = {
  conflict: 'unknown',
  revert: 'thrashing',
  'same-failure': 'stagnating',
  'no-movement': 'stagnating',
  circling: 'stagnating',
  flaky: 'unknown',
  infrastructure: 'unknown',
  overrun: 'thrashing',
  'passed-prep': 'awaiting-wake',
  'subagent-stop': 'awaiting-wake',
  'delegation-done': 'awaiting-wake',
  'pass-stands': 'productive',
  'set-shrank': 'productive',
  'diff-unobservable': 'unknown',
  'nothing-fired': 'slow',
  'no-evidence': 'unknown',
} as const satisfies Record<string, TrajectoryClass>;
export type RuleId = keyof typeof ruleClasses;

/** The numbers of the rules. Part of every assessment, so that it can be judged by what it was judged with. */
export interface PolicyNumbers {
  readonly sameFailure: number;
  readonly noMovement: number;
  /** 0 = off. */
  readonly circling: number;
  readonly circlingDiffs: number;
  readonly returns: number;
  readonly infrastructure: number;
  readonly overrunSinceCheckpoint: number;
  readonly overrunInAll: number;
  readonly ticksBeforeWake: number;
}

export interface Policy extends PolicyNumbers {
  /** Which change of the tenant's policies it is; 0 = the defaults. */
  readonly version: number;
  /** The numbers that are not the defaults; `null` = none. */
  readonly differs: Partial<PolicyNumbers> | null;
}

export const defaultPolicy: Policy = {
  version: 0,
  differs: null,
  sameFailure: 3,
  noMovement: 5,
  circling: 6,
  circlingDiffs: 2,
  returns: 2,
  infrastructure: 3,
  overrunSinceCheckpoint: 2,
  overrunInAll: 5,
  ticksBeforeWake: 2,
};

/** A gate whose newest verdict is a failure with a known failing set. */
export interface FailingGate {
  readonly gate: string;
  readonly signature: string;
}

/** The class of a work after some evidence, with the rule and the facts that decided it. */
export interface Assessment {
  readonly incarnation: number;
  readonly class: TrajectoryClass;
  readonly rule: RuleId;
  /** The gate that decided, where one did. */
  readonly gate: string | null;
  /** SHA-256 hex of the gate and its failing set; `null` = nothing could be extracted, which never equals anything. */
  readonly signature: string | null;
  /** Hash of the diff state the rule looked at, or of the newest known. */
  readonly diff: string | null;
  /** The number the rule counted (attempts running, returns, ticks ...), where it counts. */
  readonly count: number | null;
  /** One line that a person can read: the reason for the class. */
  readonly reason: string;
  /** Up to {@link SHOWN_FAILURES} failing keys of the deciding gate, for people. */
  readonly failures: readonly string[];
  /** Attempts of this incarnation, errored ones included. */
  readonly attempts: number;
  /** Lines added and removed between the last two observed diff states, where both were counted. */
  readonly delta: { readonly added: number; readonly removed: number } | null;
  readonly phase: 'unclaimed' | 'claimed' | 'blocked' | 'released' | 'done-claimed' | 'done';
  /** Has evidence in its newest incarnation and is not done, blocked or released. */
  readonly active: boolean;
  /** The class raises a signal now, as far as this work alone can tell. */
  readonly raises: boolean;
  /** Who may answer a signal of this work: the claim's worker and orchestrator. */
  readonly worker: string | null;
  readonly orchestrator: string | null;
  /** Gates whose newest verdict failed with a known signature: what shared failures are made of. */
  readonly failing: readonly FailingGate[];
  /** The version of the policy it was judged by, and the numbers in it that are not the defaults, where there are any. */
  readonly policy: number;
  readonly policyDiffers?: Partial<PolicyNumbers>;
}

export const SHOWN_FAILURES = 5;

export type SignalClass = Extract<TrajectoryClass, 'stagnating' | 'thrashing' | 'awaiting-wake'>;
export type SignalKind = SignalClass | 'shared-failure';

/** A signal as raised. Its id is the evidence digest and the id of its thread. */
export interface Signal {
  readonly signal: string;
  readonly kind: SignalKind;
  /** The work it is about; for a shared failure its members when raised. */
  readonly works: readonly string[];
  readonly incarnation: number | null;
  readonly rule: RuleId | null;
  readonly gate: string | null;
  readonly signature: string | null;
  readonly diff: string | null;
  readonly count: number | null;
  /** 1 for the first signal of the incarnation (of the gate and signature, for a shared failure). */
  readonly ordinal: number;
  readonly to: readonly string[];
  readonly reason: string;
}

/** What the classifier records about one work, in order. */
export type TrajectoryEvent =
  | {
      readonly type: 'headway.work.assessed';
      readonly id: string;
      readonly work: string;
      readonly cause: EventRef;
      readonly data: Assessment;
    }
  | {
      readonly type: 'headway.signal.replied';
      readonly id: string;
      readonly work: string;
      readonly cause: EventRef;
      readonly data: SignalReply;
    };

/** The evidence that caused an event: its identity and its place in the log. */
export interface EventRef {
  readonly source: string;
  readonly id: string;
}

/** A reply that might acknowledge: AGREE or REJECT, naming a signal on its own thread. The signaller judges it. */
export interface SignalReply {
  readonly inReplyTo: string;
  readonly intent: 'AGREE' | 'REJECT';
  readonly from: string;
}

/** What the signaller of a tenant records, in order. */
export type SignalEvent =
  | { readonly type: 'headway.signal.raised'; readonly id: string; readonly data: Signal }
  | {
      readonly type: 'headway.signal.acknowledged';
      readonly id: string;
      readonly data: SignalClosed & {
        readonly intent: 'AGREE' | 'REJECT';
        readonly from: string;
        /** The incarnation of each of the works when it was acknowledged, by index. */
        readonly incarnations: readonly number[];
      };
    }
  | {
      readonly type: 'headway.signal.withdrawn';
      readonly id: string;
      readonly data: SignalClosed & { readonly reason: string };
    }
  | {
      readonly type: 'headway.signal.superseded';
      readonly id: string;
      readonly data: SignalClosed & { readonly by: string };
    }
  | {
      readonly type: 'headway.signal.joined';
      readonly id: string;
      readonly data: { readonly signal: string; readonly work: string };
    }
  | {
      readonly type: 'headway.signal.left';
      readonly id: string;
      readonly data: { readonly signal: string; readonly work: string };
    }
  | {
      readonly type: 'headway.reply.declined';
      readonly id: string;
      readonly data: { readonly signal: string; readonly work: string; readonly from: string; readonly reason: string };
    };

export interface SignalClosed {
  readonly signal: string;
  readonly kind: SignalKind;
  /** The works in it when it closed. */
  readonly works: readonly string[];
}

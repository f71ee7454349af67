import type { AdapterClass, EffectState } from '@headway/contracts';

/** Bounds of the model: enough for every interleaving that matters, few enough to look at them all. */
export const WORKERS = 2;
export const MOST_EPOCHS = 3;
export const MOST_SENDS = 2;

/** What a worker remembers; it is lost when it crashes. */
export type Step =
  | 'idle'
  /** Holds what it was granted, and may have lost it since. */
  | 'claimed'
  /** Its start is durable. */
  | 'started'
  /** Class P: the egress process has checked the epoch and not written yet. */
  | 'checked'
  /** Its request is under way. */
  | 'waiting';

export interface Worker {
  readonly step: Step;
  readonly epoch: number;
}

export interface Request {
  readonly from: number;
  readonly epoch: number;
  /** Class C: the version of the target that it asks for. */
  readonly condition: number;
}

export type Reply = 'applied' | 'refused' | 'garbled';

/** One operation, its claim, its workers, the network and the target. */
export interface World {
  readonly claim: { readonly epoch: number; readonly holder: number | null };
  readonly verdict: 'True' | 'revoked';
  readonly operation: { readonly state: EffectState; readonly epoch: number; readonly attempts: number };
  readonly workers: readonly Worker[];
  /** Requests that have not reached the target; each may yet. */
  readonly requests: readonly Request[];
  readonly replies: readonly { readonly to: number; readonly epoch: number; readonly said: Reply }[];
  readonly target: {
    readonly effects: number;
    /** Class K: the key is remembered. */
    readonly knowsKey: boolean;
    /** Class C: rises with each write. */
    readonly version: number;
    /** Class P: epochs below are turned away at the egress. */
    readonly gate: number;
    /** The target refuses now, by a definitive answer, such as a credential that was taken away. */
    readonly refuses: boolean;
  };
  readonly sends: number;
  /** Class P: the processing bound has passed since a request was last under way. */
  readonly quiet: boolean;
  /** What only a broken guard makes true. */
  readonly broken: {
    readonly staleMove: boolean;
    readonly unauthorisedStart: boolean;
    readonly terminalMoved: boolean;
    readonly epochReused: boolean;
  };
}

export const initialWorld = (): World => ({
  claim: { epoch: 0, holder: null },
  verdict: 'True',
  operation: { state: 'ADMITTED', epoch: 0, attempts: 0 },
  workers: Array.from({ length: WORKERS }, () => ({ step: 'idle', epoch: 0 })),
  requests: [],
  replies: [],
  target: { effects: 0, knowsKey: false, version: 0, gate: 0, refuses: false },
  sends: 0,
  quiet: false,
  broken: { staleMove: false, unauthorisedStart: false, terminalMoved: false, epochReused: false },
});

/** Each can be taken away to see what it carries. */
export const guards = {
  /** A start checks, under lock, that its epoch is the claim's. */
  startChecksEpoch: 'I5',
  /** A start checks, under lock, that the verdict is True. */
  startChecksVerdict: 'I7',
  /** The claim's epoch outlives its lease. */
  expiryKeepsEpoch: 'I6',
  /** The start is durable before a byte is sent. */
  startIsDurableFirst: 'I1',
  /** A newer epoch that finds STARTED marks it UNCERTAIN. */
  takeoverIsUncertain: 'I1',
  /** No answer in time is UNCERTAIN. */
  silenceIsUncertain: 'I4',
  /** An answer that is not complete is UNCERTAIN. */
  onlyWholeAnswersCount: 'I2',
  /** A refusal fails the first attempt only. */
  refusalEndsFirstAttemptOnly: 'I4',
  /** A failure counts only for the running attempt. */
  lateFailureMovesNothing: 'I5',
  /** What is terminal takes no further answer. */
  terminalIsFinal: 'I9',
  /** Class K: the target remembers the key for as long as anything may repeat. */
  keyOutlivesRepeats: 'I1',
  /** Class C: the condition was fixed when the effect was asked for, not read anew for each attempt. */
  conditionFixedAtIntent: 'I1',
  /** Class P: the gate is raised only when no older epoch has a checked, unwritten request. */
  egressDrained: 'I1',
  /** Class P: a repeat waits for the processing bound. */
  boundHasPassed: 'I1',
  /** Class P: a listing is complete and fresh. */
  listingIsFresh: 'I1',
  /** Class N: a machine never repeats. */
  personDecidesInN: 'I1',
} as const;
export type Guard = keyof typeof guards;
export type Guards = Readonly<Record<Guard, boolean>>;

export const allGuards = Object.fromEntries(Object.keys(guards).map((guard) => [guard, true])) as Guards;

export interface Rules {
  readonly class: AdapterClass;
  readonly guards: Guards;
}

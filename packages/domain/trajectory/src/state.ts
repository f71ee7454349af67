import type { RuleId, TrajectoryClass } from '@headway/contracts';
import type { Fingerprint } from './fingerprint.ts';
import type { Seen } from './memory.ts';

/** What is remembered of a work: every limit in one place. With all of them reached, the state is below {@link STATE_BYTES}. */
export const remembered = {
  /** Whole diff states; the unchanged tree is always one of them. */
  diffs: 64,
  files: 24,
  /** States of one file. */
  fileStates: 6,
  gates: 12,
  /** Keys of a gate's newest failing set; a larger set is its size and its smallest hashes. */
  keys: 32,
  signatures: 64,
  checkpoints: 32,
  delegations: 32,
  /** Diff states of one circling run that are told apart. */
  circlingDiffs: 3,
  /** Diff states of a work that are known as returned to. */
  returns: 8,
  /** Gates whose failing keys are kept as text, for people. */
  shownGates: 3,
  /** Bytes, as JSON, of those keys of one gate. */
  shownKeys: 160,
  gateName: 48,
  workerName: 96,
  laneName: 64,
  /** A run or count is not counted further than this. */
  count: 9_999,
} as const;

/** The most that a state takes as JSON, whatever the history. */
export const STATE_BYTES = 16 * 1024;

/** The version of the state's shape. A state of another version is not continued but folded again from the evidence. */
export const STATE_VERSION = 1;

/**
 * A diff state is known by a number: 0 is the unchanged tree, each new state gets the next one. A state that was
 * forgotten and comes again gets a new number.
 */
export type DiffId = number;
export const UNCHANGED: DiffId = 0;
/** No diff state at all. */
export const NONE: DiffId = -1;

/** The whole diff states of an incarnation, least recently seen first, the unchanged tree always in front. */
export interface DiffStates {
  readonly seen: Seen;
  readonly ids: readonly DiffId[];
  /** The hash under which the unchanged tree was reported, where it was another than the fixed one; '' = none. */
  readonly unchanged: Fingerprint;
  /** The newest known state. */
  readonly at: DiffId;
  readonly next: DiffId;
  /** Whether any state was observed in this incarnation. */
  readonly observed: boolean;
  /** Grows each time the state moves. */
  readonly moves: number;
  /** The states that it came back to, as counted by the rule `revert`. */
  readonly returned: readonly DiffId[];
  /** It came back to `at`, and no failed attempt there has been seen yet. */
  readonly due: boolean;
}

/**
 * One file: its path; the content that its base is known to have, '' where it is not known; its states, each a fingerprint
 * and `+` (returned to) or `-`, the current one last; and 1 where it came back and no failed attempt has been seen since.
 * Tuples, here and below, keep the state below its limit.
 */
export type FileStates = readonly [path: Fingerprint, base: Fingerprint, states: string, due: 0 | 1];

/** Verdicts of one gate running: how many, and the diff state they were on. */
export type Run = readonly [n: number, at: DiffId];

/**
 * Failed verdicts with one signature running: how many, the work's `progress` when the run began (with any later progress
 * it no longer counts), and the different diff states they were on.
 */
export type CirclingRun = readonly [n: number, since: number, ...on: DiffId[]];

/** What the stagnation rules count: one signature on one diff state, `prep` on one diff state, one signature at all. */
export type Runs = readonly [same: Run, prep: Run, circling: CirclingRun];

export interface Gate {
  readonly id: Fingerprint;
  readonly name: string;
  /** The attempt that was its newest, counted over the work. */
  readonly seen: number;
  /**
   * The newest verdict: a pass that `stands` or was `passed` and then lost, or `failed`, where it has `shrank` with a set
   * smaller than the one before.
   */
  readonly newest: 'none' | 'stands' | 'passed' | 'failed' | 'shrank';
  /** Signature of the newest verdict, where that failed and something could be extracted. */
  readonly sig: string | null;
  /** The smallest hashes of the last known failing set, in order. */
  readonly keys: Seen;
  /**
   * That set's size, which of `keys` every earlier set had too (as bits), the size of the smallest set so far (0 = there
   * was none), and 1 where the set is the newest verdict's.
   */
  readonly set: readonly [size: number, core: number, least: number, current: 0 | 1];
  /** Where it passed last, and the first state that was younger; 0 = it never passed. */
  readonly pass: readonly [at: DiffId, next: DiffId];
  /**
   * 1 failed, 2 failed and passed, 3 failed, passed and failed: on one diff state, as long as the work's `moves` are these.
   */
  readonly flips: readonly [number, moves: number];
  readonly runs: Runs;
  /** The runs with unobserved diffs counted as unmoved; `null` = the same as the real ones. */
  readonly unobserved: Runs | null;
}

export interface Delegations {
  readonly open: Seen;
  /** Open beyond those: how many, and the sums of both halves of their hashes, which are all zero when none is left. */
  readonly more: number;
  readonly sums: readonly [number, number];
}

/** A class that stands since an acknowledgement or unblocking, until the next substantive event. */
export interface Held {
  readonly rule: RuleId;
  readonly class: TrajectoryClass;
  readonly gate: Fingerprint | null;
  readonly at: DiffId;
  readonly count: number | null;
}

export type Pause = 'passed-prep' | 'subagent-stop' | 'delegation-done';

/** Everything that is known of a work: a plain value, safe as JSON, never more than {@link STATE_BYTES} of it. */
export interface WorkState {
  readonly v: typeof STATE_VERSION;
  readonly incarnation: number;
  /** There is evidence in this incarnation. */
  readonly seen: boolean;
  readonly worker: string | null;
  readonly orchestrator: string | null;
  /** Tells which policy it is judged by. Stays when another incarnation begins; absent in states of older records. */
  readonly lane?: string | null;
  /** Estimated gate attempts and commits; `null` = no estimate. */
  readonly sizing: readonly [number | null, number | null];
  readonly blocked: boolean;
  readonly released: boolean;
  /** `claimed` = by the worker itself. */
  readonly done: 'no' | 'claimed' | 'confirmed';
  /** The diff state at `done`, and the one on which a `done`-stage gate passed last. */
  readonly doneAt: DiffId;
  readonly doneGateAt: DiffId;
  /** An identity was used for other content, and no verdict came since. */
  readonly doubt: boolean;
  /** Evidence after `done` that contradicts it. */
  readonly contradicted: boolean;
  readonly diffs: DiffStates;
  /** Lines added and removed in the newest observed diff state, and how they changed at its last move. */
  readonly lines: readonly [number, number] | null;
  readonly delta: readonly [number, number] | null;
  readonly files: readonly FileStates[];
  /** The diff state whose list of files `files` stands for. */
  readonly filesAt: DiffId;
  /** In the order in which they were tried first. */
  readonly gates: readonly Gate[];
  readonly signatures: Seen;
  /** Failing keys of the gates that failed last, for people: the gate's id, then keys. */
  readonly shown: readonly (readonly string[])[];
  readonly checkpoints: Seen;
  readonly delegations: Delegations;
  readonly attempts: number;
  readonly errored: number;
  /** There was a verdict or a commit. */
  readonly judged: boolean;
  /** Verdicts and commits since the last checkpoint that brought new work, then both in all. */
  readonly spent: readonly [number, number, number, number];
  /** Grows with every gate's first pass and every set smaller than all that its gate had before. */
  readonly progress: number;
  readonly pause: Pause | null;
  readonly ticks: number;
  /** The diff state at the last substantive event. */
  readonly rest: DiffId;
  readonly held: Held | null;
  /** The policy's version in the last assessment that was recorded; `null` = none was. */
  readonly recorded: number | null;
}

/** A state under construction: members are replaced, never changed inside. */
export type Draft = { -readonly [Member in keyof WorkState]: WorkState[Member] };

export const noRuns: Runs = [
  [0, NONE],
  [0, NONE],
  [0, 0],
];

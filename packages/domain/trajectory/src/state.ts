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
  circlingDiffs: 4,
  /** Diff states of a work that are known as returned to. */
  returns: 8,
  /** Gates whose failing keys are kept as text, for people. */
  shownGates: 4,
  /** Bytes, as JSON, of those keys of one gate. */
  shownKeys: 220,
  gateName: 64,
  workerName: 128,
  /** A run or count is not counted further than this. */
  count: 1_000_000,
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

/** The states of one file, each a fingerprint and `+` (returned to) or `-`, the current one last. */
export interface FileStates {
  readonly path: Fingerprint;
  /** The content that the base is known to have; '' = not known. */
  readonly base: Fingerprint | '';
  readonly states: string;
  readonly due: boolean;
}

/** Verdicts of one gate running: how many, and the diff state they were on. */
export interface Run {
  readonly n: number;
  readonly at: DiffId;
}

/** Failed verdicts with one signature running, and the different diff states they were on. */
export interface CirclingRun {
  readonly n: number;
  /** The work's `progress` when the run began: with any later progress it no longer counts. */
  readonly since: number;
  readonly on: readonly DiffId[];
}

export interface Runs {
  readonly same: Run;
  readonly prep: Run;
  readonly circ: CirclingRun;
}

export interface Gate extends Runs {
  readonly id: Fingerprint;
  readonly name: string;
  /** The attempt that was its newest, counted over the work. */
  readonly seen: number;
  readonly newest: 'none' | 'passed' | 'failed';
  /** Signature of the newest verdict, where that failed and something could be extracted. */
  readonly sig: string | null;
  /** The last known failing set: its smallest hashes in order, its size, and which keys every earlier set had too. */
  readonly keys: Seen;
  readonly size: number;
  readonly core: number;
  /** Size of the smallest set so far; 0 = there was none. */
  readonly least: number;
  /** That set is the newest verdict's. */
  readonly current: boolean;
  /** The newest set is smaller than the one before. */
  readonly shrank: boolean;
  readonly passedOnce: boolean;
  /** The newest verdict is a pass and stands. */
  readonly stands: boolean;
  /** Where it passed, and the first state that was younger. */
  readonly passAt: DiffId;
  readonly passNext: DiffId;
  /** 1 failed, 2 failed and passed, 3 failed, passed and failed: on one diff state, as long as `moves` is the work's. */
  readonly flips: number;
  readonly moves: number;
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

const noRun: Run = { n: 0, at: NONE };
const noCircling: CirclingRun = { n: 0, since: 0, on: [] };
export const noRuns: Runs = { same: noRun, prep: noRun, circ: noCircling };

import type { Stage } from '@headway/contracts';
import { coreOf, type FailingSet, isSmaller, isSmallest } from './failing-set.ts';
import { type CirclingRun, type DiffId, type Gate, NONE, noRuns, type Run, type Runs, remembered } from './state.ts';

/** A failed verdict, as far as its gate is concerned. */
export interface Failure {
  readonly signature: string | null;
  /** `null` = the keys are not known. */
  readonly set: FailingSet | null;
  readonly stage: Stage;
  /** The observed diff state, or {@link NONE}. */
  readonly at: DiffId;
  /** The newest known diff state, observed now or earlier. */
  readonly unmoved: DiffId;
  /** The work's counters before this verdict. */
  readonly progress: number;
  readonly moves: number;
}

/** A gate that was just tried for the first time. */
export const newGate = (id: string, name: string): Gate => ({
  ...noRuns,
  id,
  name,
  seen: 0,
  newest: 'none',
  sig: null,
  keys: '',
  size: 0,
  core: 0,
  least: 0,
  current: false,
  shrank: false,
  passedOnce: false,
  stands: false,
  passAt: NONE,
  passNext: 0,
  flips: 0,
  moves: 0,
  unobserved: null,
});

/** The gate after a pass: every run ends. `at` is the observed diff state or {@link NONE}. */
export function afterPass(gate: Gate, at: DiffId, unmoved: DiffId, next: DiffId, moves: number): Gate {
  const flips = gate.moves === moves ? gate.flips : 0;
  return {
    ...gate,
    ...noRuns,
    newest: 'passed',
    sig: null,
    current: false,
    shrank: false,
    passedOnce: true,
    stands: true,
    passAt: unmoved,
    passNext: next,
    flips: at !== NONE && flips === 1 ? 2 : flips,
    moves,
    unobserved: null,
  };
}

/** The gate after a failed verdict; `progressed` where its set is smaller than all that it had before. */
export function afterFailure(gate: Gate, failure: Failure): { gate: Gate; progressed: boolean } {
  const { signature, set, at, unmoved, moves } = failure;
  const same = signature !== null && signature === gate.sig;
  const known = signature === null ? null : set;
  const smaller = !same && known !== null && gate.current && isSmaller(known, gate);
  const core = same || known === null ? gate.core : coreOf(known, gate);
  const progressed = !same && known !== null && isSmallest(known, gate, core);
  const progress = failure.progress + (progressed ? 1 : 0);
  const step: Step = { same, smaller, signed: signature !== null, prep: failure.stage === 'prep', progress };
  const flips = gate.moves === moves ? gate.flips : 0;
  const after: Gate = {
    ...gate,
    ...counted(gate, step, at),
    newest: 'failed',
    sig: signature,
    ...(same || known === null
      ? { current: same && gate.current }
      : {
          keys: known.keys,
          size: known.size,
          core,
          least: gate.least === 0 ? known.size : Math.min(gate.least, known.size),
          current: true,
        }),
    shrank: smaller,
    stands: false,
    flips: at === NONE ? flips : flips === 0 ? 1 : flips === 2 ? 3 : flips,
    moves,
    unobserved:
      gate.unobserved === null && at !== NONE
        ? null
        : counted(gate.unobserved ?? gate, step, at === NONE ? unmoved : at),
  };
  return { gate: after, progressed };
}

interface Step {
  /** Same signature as the verdict before. */
  readonly same: boolean;
  readonly smaller: boolean;
  readonly signed: boolean;
  readonly prep: boolean;
  readonly progress: number;
}

const none: Run = noRuns.same;
const onwards = (n: number): number => Math.min(n + 1, remembered.count);

/** The runs after a failed verdict on a diff state. An unobserved one neither counts nor interrupts. */
function counted(runs: Runs, step: Step, at: DiffId): Runs {
  if (!step.signed) return noRuns;
  return {
    same: sameRun(runs.same, step, at),
    prep: prepRun(runs.prep, step, at),
    circ: circlingRun(runs.circ, step, at),
  };
}

function sameRun(run: Run, step: Step, at: DiffId): Run {
  if (at === NONE) return step.same ? run : none;
  return { n: step.same && run.at === at ? onwards(run.n) : 1, at };
}

function prepRun(run: Run, step: Step, at: DiffId): Run {
  if (!step.prep) return none;
  if (at === NONE) return step.smaller ? none : run;
  return { n: !step.smaller && run.at === at ? onwards(run.n) : 1, at };
}

function circlingRun(run: CirclingRun, step: Step, at: DiffId): CirclingRun {
  const goesOn = step.same && run.since === step.progress;
  if (at === NONE) return goesOn ? run : { n: 0, since: step.progress, on: [] };
  if (!goesOn) return { n: 1, since: step.progress, on: [at] };
  const full = run.on.length >= remembered.circlingDiffs || run.on.includes(at);
  return { n: onwards(run.n), since: run.since, on: full ? run.on : [...run.on, at] };
}

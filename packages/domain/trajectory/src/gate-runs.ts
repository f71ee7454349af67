import type { Stage } from '@headway/contracts';
import { coreOf, type FailingSet, isSmaller, isSmallest } from './failing-set.ts';
import {
  type CirclingRun,
  type DiffId,
  type DiffStates,
  type Gate,
  NONE,
  noRuns,
  type Run,
  type Runs,
  remembered,
} from './state.ts';

/** A failed verdict, as far as its gate is concerned. */
export interface Failure {
  /** The attempt's number, counted over the work. */
  readonly seen: number;
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
  id,
  name,
  seen: 0,
  newest: 'none',
  sig: null,
  keys: '',
  set: [0, 0, 0, 0],
  pass: [NONE, 0],
  flips: [0, 0],
  runs: noRuns,
  unobserved: null,
});

/** How often a gate flipped on the work's present diff state. */
const flipsOf = ({ flips: [flips, then] }: Gate, moves: number): number => (then === moves ? flips : 0);

/** The gate after a pass: every run ends. `at` is the observed diff state or {@link NONE}. */
export function afterPass(gate: Gate, seen: number, at: DiffId, { at: unmoved, next, moves }: DiffStates): Gate {
  const flips = flipsOf(gate, moves);
  const [size, core, least] = gate.set;
  return {
    id: gate.id,
    name: gate.name,
    seen,
    newest: 'stands',
    sig: null,
    keys: gate.keys,
    set: [size, core, least, 0],
    pass: [unmoved, next],
    flips: [at !== NONE && flips === 1 ? 2 : flips, moves],
    runs: noRuns,
    unobserved: null,
  };
}

/** The gate after a failed verdict; `progressed` where its set is smaller than all that it had before. */
export function afterFailure(gate: Gate, failure: Failure): { gate: Gate; progressed: boolean } {
  const { signature, set, at, unmoved, moves } = failure;
  const same = signature !== null && signature === gate.sig;
  const known = signature === null || same ? null : set;
  const [size, lastCore, least, current] = gate.set;
  const smaller = known !== null && current === 1 && isSmaller(known, { keys: gate.keys, size });
  const core = known === null ? lastCore : coreOf(known, gate);
  const progressed = known !== null && isSmallest(known, least, core);
  const progress = failure.progress + (progressed ? 1 : 0);
  const step: Step = { same, smaller, signed: signature !== null, prep: failure.stage === 'prep', progress };
  const flips = flipsOf(gate, moves);
  const shadow = gate.unobserved ?? (at === NONE ? gate.runs : null);
  const after: Gate = {
    id: gate.id,
    name: gate.name,
    seen: failure.seen,
    newest: smaller ? 'shrank' : 'failed',
    sig: signature,
    keys: known === null ? gate.keys : known.keys,
    set:
      known === null
        ? [size, core, least, same ? current : 0]
        : [known.size, core, least === 0 ? known.size : Math.min(least, known.size), 1],
    pass: gate.pass,
    flips: [at === NONE ? flips : afterFailing(flips), moves],
    runs: counted(gate.runs, step, at),
    unobserved: shadow === null ? null : counted(shadow, step, at === NONE ? unmoved : at),
  };
  return { gate: after, progressed };
}

function afterFailing(flips: number): number {
  if (flips === 0) return 1;
  return flips === 2 ? 3 : flips;
}

interface Step {
  /** Same signature as the verdict before. */
  readonly same: boolean;
  readonly smaller: boolean;
  readonly signed: boolean;
  readonly prep: boolean;
  readonly progress: number;
}

const none: Run = [0, NONE];
const onwards = (n: number): number => Math.min(n + 1, remembered.count);

/** The runs after a failed verdict on a diff state. An unobserved one neither counts nor interrupts. */
function counted(runs: Runs, step: Step, at: DiffId): Runs {
  if (!step.signed) return noRuns;
  const [same, prep, circling] = runs;
  return [sameRun(same, step, at), prepRun(prep, step, at), circlingRun(circling, step, at)];
}

function sameRun(run: Run, step: Step, at: DiffId): Run {
  if (at === NONE) return step.same ? run : none;
  return [step.same && run[1] === at ? onwards(run[0]) : 1, at];
}

function prepRun(run: Run, step: Step, at: DiffId): Run {
  if (!step.prep) return none;
  if (at === NONE) return step.smaller ? none : run;
  return [!step.smaller && run[1] === at ? onwards(run[0]) : 1, at];
}

function circlingRun(run: CirclingRun, step: Step, at: DiffId): CirclingRun {
  const goesOn = step.same && run[1] === step.progress;
  if (at === NONE) return goesOn ? run : [0, step.progress];
  if (!goesOn) return [1, step.progress, at];
  const on = run.slice(2);
  if (on.length < remembered.circlingDiffs && !on.includes(at)) on.push(at);
  return [onwards(run[0]), run[1], ...on];
}

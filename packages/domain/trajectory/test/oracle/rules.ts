import {
  BASE,
  countsFrom,
  filesSeen,
  gatesOf,
  isSmaller,
  observedAt,
  type SizingSeen,
  type Step,
  type Verdicted,
  type Visit,
  verdictsOf,
  wholeVisits,
} from './history.ts';

/** Where a rule fired; `gate` and `signature` where a gate decided. */
export interface Fired {
  readonly gate: string | null;
  readonly signature: string | null;
}
type Rule = (steps: readonly Step[]) => Fired | null;
const nowhere: Fired = { gate: null, signature: null };
const when = (fires: boolean): Fired | null => (fires ? nowhere : null);

const newest = (verdicts: readonly Verdicted[], gate: string) => verdicts.findLast((one) => one.gate === gate);
const stateAt = (visits: readonly Visit[], at: number) => visits.findLast((one) => one.at <= at)?.state ?? BASE;

/** A pass stands: the newest verdict passed, and the state has not since returned to one older than that pass. */
function passStands(steps: readonly Step[], gate: string): boolean {
  const pass = newest(verdictsOf(steps), gate);
  if (!pass?.passed) return false;
  const visits = wholeVisits(steps);
  const here = stateAt(visits, pass.at);
  const older = visits.filter(({ at, state }) => at <= pass.at && state !== here).map(({ state }) => state);
  return !visits.some(({ at, state }) => at > pass.at && older.includes(state));
}

/** Every gate passes: at least one has a verdict, and each one's pass stands. */
function everyGatePasses(steps: readonly Step[]): boolean {
  const gates = [...new Set(verdictsOf(steps).map(({ gate }) => gate))];
  return gates.length > 0 && gates.every((gate) => passStands(steps, gate));
}

/** One id with two contents, until the next verdict; or after done a claim, or evidence of another diff state. */
export const conflict: Rule = (steps) => {
  const doubted = steps.findLastIndex(({ kind }) => kind === 'conflict');
  const verdict = steps.findLastIndex(({ kind }) => kind === 'verdict');
  return when(doubted > verdict || contradictsDone(steps));
};

function contradictsDone(steps: readonly Step[]): boolean {
  const done = steps.findIndex(({ kind }) => kind === 'done');
  if (done === -1) return false;
  const before = wholeVisits(steps.slice(0, done));
  const known = before.length > 1 || steps.slice(0, done).some((step) => observedAt(step) !== null);
  let state = known ? before.at(-1)?.state : undefined;
  for (let at = done + 1; at < steps.length; at += 1) {
    const step = steps[at];
    if (step?.kind === 'claim') return true;
    if (step?.kind === 'edit' && editContradicts(steps.slice(0, at), step)) return true;
    if (step?.kind !== 'verdict' && step?.kind !== 'commit') continue;
    const seen = observedAt(step);
    if (seen === null) continue;
    state ??= seen.state;
    if (seen.state !== state) return true;
  }
  return false;
}

/** After done, an edit to a content that the file has not got already; the late report of a known one is normal. */
function editContradicts(
  before: readonly Step[],
  { path, before: from, after }: { path: string; before: string; after: string },
) {
  if (from === after) return false;
  const file = filesSeen(before).get(path);
  if (file === undefined) return true;
  return file.visits.at(-1)?.state !== (after === file.base ? BASE : after);
}

/** Returns that count: at the first failed attempt there, with a signature that this gate showed before. */
function returned(steps: readonly Step[], visits: readonly Visit[]): Set<string> {
  const verdicts = verdictsOf(steps);
  const states = new Set<string>();
  for (const [index, { state, at }] of visits.entries()) {
    if (!visits.slice(0, index).some((earlier) => earlier.state === state)) continue;
    const left = visits[index + 1]?.at ?? steps.length;
    const first = verdicts.find((one) => !one.passed && one.diff !== null && one.at >= at && one.at < left);
    if (first === undefined || first.signature === null || at <= countsFrom(steps)) continue;
    const { gate, signature } = first;
    const shown = verdicts.some((one) => one.at < first.at && one.gate === gate && one.signature === signature);
    if (shown) states.add(state);
  }
  return states;
}

export const revert: Rule = (steps) => {
  const trails = [wholeVisits(steps), ...[...filesSeen(steps).values()].map((file) => file.visits)];
  return when(!everyGatePasses(steps) && trails.some((visits) => returned(steps, visits).size >= 2));
};

/** Where a verdict's diff state stands for a rule that needs it; `null` neither counts in nor interrupts. */
type StateOf = (verdict: Verdicted) => string | null;
const known = (run: readonly Verdicted[], stateOf: StateOf) => run.filter((one) => stateOf(one) !== null);
const asReported: StateOf = (verdict) => verdict.diff?.state ?? null;

/**
 * The newest run of a gate: after its last pass, from its last smaller set on, after its last `null` set, whatever the
 * rule asks of it.
 */
function runOf(steps: readonly Step[], gate: string): Verdicted[] {
  const all = verdictsOf(steps).filter((one) => one.gate === gate);
  let run: Verdicted[] = [];
  for (const [index, verdict] of all.entries()) {
    if (verdict.passed || verdict.set === null) run = [];
    else if (isSmaller(verdict.set, setBefore(all, index))) run = [verdict];
    else run.push(verdict);
  }
  return run.filter(({ at }) => at > countsFrom(steps));
}

/** The set of the gate's verdict before: none (nothing failed, so nothing is smaller) where that one passed. */
const setBefore = (all: readonly Verdicted[], index: number) => all[index - 1]?.set ?? null;

/** The newest ones of which all are alike. */
function alike<Item>(items: readonly Item[], same: (left: Item, right: Item) => boolean): Item[] {
  const last = items.at(-1);
  if (last === undefined) return [];
  return items.slice(items.findLastIndex((item) => !same(item, last)) + 1);
}

/** The gate tried first among those that have a run; its signature is that of its newest verdict. */
function firstGate(steps: readonly Step[], run: (gate: string) => Verdicted[] | null): Fired | null {
  const gate = gatesOf(steps).find((one) => run(one) !== null);
  return gate === undefined ? null : { gate, signature: newest(verdictsOf(steps), gate)?.signature ?? null };
}

const sameFailureBy =
  (stateOf: StateOf): Rule =>
  (steps) =>
    firstGate(steps, (gate) => {
      const run = alike(runOf(steps, gate), (a, b) => a.signature === b.signature);
      const equal = alike(known(run, stateOf), (a, b) => stateOf(a) === stateOf(b));
      return equal.length >= 3 ? equal : null;
    });
export const sameFailure = sameFailureBy(asReported);

const noMovementBy =
  (stateOf: StateOf): Rule =>
  (steps) =>
    firstGate(steps, (gate) => {
      const run = runOf(steps, gate);
      const prep = run.slice(run.findLastIndex(({ stage }) => stage !== 'prep') + 1);
      const still = alike(known(prep, stateOf), (a, b) => stateOf(a) === stateOf(b));
      return still.length >= 5 ? still : null;
    });
export const noMovement = noMovementBy(asReported);

/** The last step at which a gate passed for the first time or had a set smaller than all that it had before. */
function lastProgress(steps: readonly Step[]): number {
  const verdicts = verdictsOf(steps);
  const steady = verdicts.findLast((verdict) => {
    const earlier = verdicts.filter((one) => one.gate === verdict.gate && one.at < verdict.at);
    if (verdict.passed) return !earlier.some(({ passed }) => passed);
    const sets = earlier.filter(({ set }) => set !== null);
    return sets.length > 0 && sets.every(({ set }) => isSmaller(verdict.set, set));
  });
  return steady?.at ?? -1;
}

const circlingBy =
  (stateOf: StateOf): Rule =>
  (steps) =>
    firstGate(steps, (gate) => {
      const run = runOf(steps, gate).filter(({ at }) => at >= lastProgress(steps));
      const equal = known(
        alike(run, (a, b) => a.signature === b.signature),
        stateOf,
      );
      return equal.length >= 6 && new Set(equal.map(stateOf)).size >= 2 ? equal : null;
    });
export const circling = circlingBy(asReported);

/** A stagnation rule would fire if attempts without a known diff counted as unmoved. */
export const diffUnobservable: Rule = (steps) => {
  const visits = wholeVisits(steps);
  const unmoved: StateOf = (verdict) => verdict.diff?.state ?? stateAt(visits, verdict.at);
  return sameFailureBy(unmoved)(steps) ?? noMovementBy(unmoved)(steps) ?? circlingBy(unmoved)(steps);
};

/** One gate, one diff state: fail, pass, fail; until the diff moves. */
export const flaky: Rule = (steps) => {
  const since = wholeVisits(steps).at(-1)?.at ?? -1;
  return firstGate(steps, (gate) => {
    const here = verdictsOf(steps).filter((one) => one.gate === gate && one.diff !== null && one.at >= since);
    const fail = here.findIndex(({ passed }) => !passed);
    const pass = here.findIndex(({ passed }, index) => fail !== -1 && index > fail && passed);
    const again = here.findIndex(({ passed }, index) => pass !== -1 && index > pass && !passed);
    return again === -1 ? null : here;
  });
};

export const infrastructure: Rule = (steps) => {
  const attempts = steps.filter(({ kind }) => kind === 'verdict' || kind === 'errored').slice(-3);
  return when(attempts.length === 3 && attempts.every(({ kind }) => kind === 'errored'));
};

/** Brings new work: the worker's or a subagent's, with a diff that is new among checkpoints and not the base. */
function bringsNewWork(steps: readonly Step[], at: number): boolean {
  const step = steps[at];
  if (step?.kind !== 'checkpoint' || step.by === 'harness' || step.diff === null || step.diff.state === BASE)
    return false;
  const { state } = step.diff;
  return !steps
    .slice(0, at)
    .some((one) => one.kind === 'checkpoint' && one.by !== 'harness' && one.diff?.state === state);
}

export const overrun: Rule = (steps) => {
  const claims = steps.flatMap((step) => (step.kind === 'claim' ? [step] : []));
  const sizing: SizingSeen = claims.findLast((claim) => claim.sizing !== null)?.sizing ?? {};
  const estimates = {
    verdict: sizing.gateAttempts ?? (sizing.toolCalls === undefined ? undefined : Math.ceil(sizing.toolCalls / 5)),
    commit: sizing.commits ?? (sizing.files === undefined ? undefined : Math.ceil(sizing.files / 5)),
  };
  const from = countsFrom(steps);
  const held = steps.findLastIndex((_, at) => bringsNewWork(steps, at));
  const exceeds = (kind: 'verdict' | 'commit'): boolean => {
    const estimate = estimates[kind];
    if (estimate === undefined) return false;
    const counted = (after: number) => steps.filter((step, at) => step.kind === kind && at > after).length;
    return counted(Math.max(from, held)) > 2 * estimate || counted(from) > 5 * estimate;
  };
  return when(!everyGatePasses(steps) && (exceeds('verdict') || exceeds('commit')));
};

/**
 * Attempts, commits, edits, delegations, wake, claim; a subagent's stop always is. Another checkpoint only where it is
 * the worker's and its diff is not the one at the substantive event before.
 */
export function lastSubstantive(steps: readonly Step[]): number {
  let last = -1;
  const visits = wholeVisits(steps);
  for (const [at, step] of steps.entries()) {
    const moved =
      step.kind === 'checkpoint' &&
      step.by === 'worker' &&
      step.diff !== null &&
      step.diff.state !== stateAt(visits, last);
    if (moved || isAlwaysSubstantive(step)) last = at;
  }
  return last;
}

function isAlwaysSubstantive(step: Step): boolean {
  if (step.kind === 'checkpoint') return step.by === 'subagent-stop';
  return ['verdict', 'errored', 'commit', 'edit', 'delegation', 'wake', 'claim'].includes(step.kind);
}

const waiting =
  (isPause: (step: Step) => boolean): Rule =>
  (steps) => {
    const step = steps[lastSubstantive(steps)];
    const open = new Set<string>();
    for (const one of steps) {
      if (one.kind !== 'delegation') continue;
      if (one.opened) open.add(one.delegation);
      else open.delete(one.delegation);
    }
    const done = steps.some(({ kind }) => kind === 'done');
    return when(step !== undefined && isPause(step) && open.size === 0 && !done);
  };

export const passedPrep: Rule = (steps) => {
  const last = steps[lastSubstantive(steps)];
  const fired = waiting((step) => step.kind === 'verdict' && step.verdict.passed && step.verdict.stage === 'prep')(
    steps,
  );
  return fired !== null && last?.kind === 'verdict' ? { gate: last.verdict.gate, signature: null } : null;
};
export const subagentStop: Rule = waiting((step) => step.kind === 'checkpoint' && step.by === 'subagent-stop');
export const delegationDone: Rule = waiting((step) => step.kind === 'delegation' && !step.opened);

export const passStandsSomewhere: Rule = (steps) => when(gatesOf(steps).some((gate) => passStands(steps, gate)));

/** Some gate's newest set is smaller than that gate's one before. */
export const setShrank: Rule = (steps) =>
  when(
    gatesOf(steps).some((gate) => {
      const all = verdictsOf(steps).filter((one) => one.gate === gate);
      return isSmaller(all.at(-1)?.set ?? null, setBefore(all, all.length - 1));
    }),
  );

export const nothingFired: Rule = (steps) => when(steps.some(({ kind }) => kind === 'verdict' || kind === 'commit'));

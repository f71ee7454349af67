import { countsFrom, type Step } from './history.ts';
import * as rules from './rules.ts';
import { lastSubstantive } from './rules.ts';

/** Rules in order of precedence: the first that fires decides. */
const precedence = [
  ['conflict', 'unknown', rules.conflict],
  ['revert', 'thrashing', rules.revert],
  ['same-failure', 'stagnating', rules.sameFailure],
  ['no-movement', 'stagnating', rules.noMovement],
  ['circling', 'stagnating', rules.circling],
  ['flaky', 'unknown', rules.flaky],
  ['infrastructure', 'unknown', rules.infrastructure],
  ['overrun', 'thrashing', rules.overrun],
  ['passed-prep', 'awaiting-wake', rules.passedPrep],
  ['subagent-stop', 'awaiting-wake', rules.subagentStop],
  ['delegation-done', 'awaiting-wake', rules.delegationDone],
  ['pass-stands', 'productive', rules.passStandsSomewhere],
  ['set-shrank', 'productive', rules.setShrank],
  ['diff-unobservable', 'unknown', rules.diffUnobservable],
  ['nothing-fired', 'slow', rules.nothingFired],
] as const;

export interface Judgement {
  readonly class: string;
  readonly rule: string;
  readonly gate: string | null;
  readonly signature: string | null;
  /** The class raises a signal now, as far as this work alone can tell. */
  readonly raises: boolean;
}

/** The class of one incarnation from all of its steps. */
export function judgementOf(steps: readonly Step[], blocked: boolean): Judgement {
  // An acknowledgement: the class stands until the next substantive event, and raises nothing till then.
  // `unblocked` restarts like one.
  const answered = countsFrom(steps);
  if (answered !== -1 && lastSubstantive(steps) < answered) {
    return { ...judgementOf(steps.slice(0, answered), blocked), raises: false };
  }
  for (const [rule, name, fires] of precedence) {
    const fired = fires(steps);
    if (fired !== null)
      return { class: name, rule, ...fired, raises: raises(steps, name) && !isClosed(steps, blocked) };
  }
  return { class: 'unknown', rule: 'no-evidence', gate: null, signature: null, raises: false };
}

/** Done (claimed or confirmed), released or blocked: nothing is raised. */
export const isClosed = (steps: readonly Step[], blocked: boolean): boolean =>
  blocked || steps.some(({ kind }) => kind === 'done' || kind === 'released');

/** awaiting-wake is raised only after two ticks since the pause; an acknowledgement sets the ticks to zero. */
function raises(steps: readonly Step[], name: string): boolean {
  if (name !== 'awaiting-wake') return name === 'stagnating' || name === 'thrashing';
  const from = Math.max(lastSubstantive(steps), countsFrom(steps));
  return steps.filter(({ kind }, at) => kind === 'tick' && at > from).length >= 2;
}

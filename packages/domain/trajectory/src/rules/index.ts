import { type Policy, type RuleId, ruleClasses } from '@headway/contracts';
import { type Held, NONE, type WorkState } from '../state.ts';
import { conflict, flaky, infrastructure } from './doubt.ts';
import type { Finding, Rule } from './finding.ts';
import { nothingFired, passStands, setShrank } from './progress.ts';
import { circling, diffUnobservable, noMovement, sameFailure } from './stagnation.ts';
import { overrun, revert } from './thrashing.ts';
import { pausedBy } from './waiting.ts';

/** Every rule but the last, in order of precedence: the first that fires decides. */
const rules: readonly (readonly [RuleId, Rule])[] = [
  ['conflict', conflict],
  ['revert', revert],
  ['same-failure', sameFailure],
  ['no-movement', noMovement],
  ['circling', circling],
  ['flaky', flaky],
  ['infrastructure', infrastructure],
  ['overrun', overrun],
  ['passed-prep', pausedBy('passed-prep')],
  ['subagent-stop', pausedBy('subagent-stop')],
  ['delegation-done', pausedBy('delegation-done')],
  ['pass-stands', passStands],
  ['set-shrank', setShrank],
  ['diff-unobservable', diffUnobservable],
  ['nothing-fired', nothingFired],
];

const found = (rule: RuleId, { gate, at, count }: Finding): Held => ({
  rule,
  class: ruleClasses[rule],
  gate,
  at,
  count,
});

/** The rule that decides about a work, with what it looked at. A class that is held stands whatever the rules say. */
export function judgedRule(state: WorkState, policy: Policy): Held {
  if (state.held !== null) return state.held;
  for (const [rule, fires] of rules) {
    const finding = fires(state, policy);
    if (finding !== null) return found(rule, finding);
  }
  return found('no-evidence', { gate: null, at: state.diffs.observed ? state.diffs.at : NONE, count: null });
}

/** Every rule that fires, in order of precedence, whatever is held. */
export const firingRules = (state: WorkState, policy: Policy): readonly RuleId[] =>
  rules.filter(([, fires]) => fires(state, policy) !== null).map(([rule]) => rule);

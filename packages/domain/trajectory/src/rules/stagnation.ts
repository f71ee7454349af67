import type { Policy } from '@headway/contracts';
import type { Runs, WorkState } from '../state.ts';
import { type Finding, newest, type Rule } from './finding.ts';

/** One gate: the same signature on the same diff state, failed verdicts running. */
export const sameFailure: Rule = (state, policy) => {
  for (const gate of state.gates)
    if (gate.same.n >= policy.sameFailure) return { gate: gate.id, at: gate.same.at, count: gate.same.n };
  return null;
};

/** One gate: `prep` verdicts running, none passed, on one diff state, whatever the signatures. */
export const noMovement: Rule = (state, policy) => {
  for (const gate of state.gates)
    if (gate.prep.n >= policy.noMovement) return { gate: gate.id, at: gate.prep.at, count: gate.prep.n };
  return null;
};

/** One gate: the same signature, failed verdicts running although the diff moves, with no progress of any gate since. */
export const circling: Rule = (state, policy) => {
  for (const gate of state.gates)
    if (circles(gate, state, policy)) return { gate: gate.id, at: newest(state), count: gate.circ.n };
  return null;
};

function circles({ circ }: Runs, state: WorkState, policy: Policy): boolean {
  if (policy.circling === 0 || circ.since !== state.progress) return false;
  return circ.n >= policy.circling && circ.on.length >= policy.circlingDiffs;
}

/** A stagnation rule would fire if attempts with an unobserved diff counted as unmoved. */
export const diffUnobservable: Rule = (state, policy) => {
  for (const { id, unobserved: runs } of state.gates) {
    if (runs === null) continue;
    const found = (count: number): Finding => ({ gate: id, at: newest(state), count });
    if (runs.same.n >= policy.sameFailure) return found(runs.same.n);
    if (runs.prep.n >= policy.noMovement) return found(runs.prep.n);
    if (circles(runs, state, policy)) return found(runs.circ.n);
  }
  return null;
};

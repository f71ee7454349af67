import type { Policy } from '@headway/contracts';
import type { Runs, WorkState } from '../state.ts';
import { type Finding, newest, type Rule } from './finding.ts';

/** One gate: the same signature on the same diff state, failed verdicts running. */
export const sameFailure: Rule = (state, policy) => {
  for (const { id, runs } of state.gates) {
    const [[count, at]] = runs;
    if (count >= policy.sameFailure) return { gate: id, at, count };
  }
  return null;
};

/** One gate: `prep` verdicts running, none passed, on one diff state, whatever the signatures. */
export const noMovement: Rule = (state, policy) => {
  for (const { id, runs } of state.gates) {
    const [, [count, at]] = runs;
    if (count >= policy.noMovement) return { gate: id, at, count };
  }
  return null;
};

/** One gate: the same signature, failed verdicts running although the diff moves, with no progress of any gate since. */
export const circling: Rule = (state, policy) => {
  for (const { id, runs } of state.gates)
    if (circles(runs, state, policy)) return { gate: id, at: newest(state), count: runs[2][0] };
  return null;
};

/** A run holds its count and its beginning, then the different diff states. */
function circles([, , run]: Runs, state: WorkState, policy: Policy): boolean {
  if (policy.circling === 0 || run[1] !== state.progress) return false;
  return run[0] >= policy.circling && run.length - 2 >= policy.circlingDiffs;
}

/** A stagnation rule would fire if attempts with an unobserved diff counted as unmoved. */
export const diffUnobservable: Rule = (state, policy) => {
  for (const { id, unobserved: runs } of state.gates) {
    if (runs === null) continue;
    const [[same], [prep], [circled]] = runs;
    const found = (count: number): Finding => ({ gate: id, at: newest(state), count });
    if (same >= policy.sameFailure) return found(same);
    if (prep >= policy.noMovement) return found(prep);
    if (circles(runs, state, policy)) return found(circled);
  }
  return null;
};

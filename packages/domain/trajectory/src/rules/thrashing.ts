import type { Policy } from '@headway/contracts';
import { returnsOf } from '../file-states.ts';
import type { WorkState } from '../state.ts';
import { newest, type Rule } from './finding.ts';

/** At least one gate has a verdict, and every such gate's pass stands. */
export function everyGatePasses(state: WorkState): boolean {
  let any = false;
  for (const gate of state.gates) {
    if (gate.newest === 'none') continue;
    if (gate.newest !== 'stands') return false;
    any = true;
  }
  return any;
}

/** The diff state, whole or one file's, came back to different states that it had left, with failures known there. */
export const revert: Rule = (state, policy) => {
  let count = state.diffs.returned.length;
  for (const file of state.files) if (count < policy.returns) count = Math.max(count, returnsOf(file));
  if (count < policy.returns || everyGatePasses(state)) return null;
  return { gate: null, at: newest(state), count };
};

/** Verdicts or commits exceed the sizing estimate by far, and not every gate passes. */
export const overrun: Rule = (state, policy) => {
  const [attempts, commits] = state.sizing;
  const [verdictsSince, commitsSince, allVerdicts, allCommits] = state.spent;
  const count =
    exceeded(attempts, verdictsSince, allVerdicts, policy) ?? exceeded(commits, commitsSince, allCommits, policy);
  return count === null || everyGatePasses(state) ? null : { gate: null, at: newest(state), count };
};

function exceeded(estimate: number | null, since: number, all: number, policy: Policy): number | null {
  if (estimate === null) return null;
  if (all > policy.overrunInAll * estimate) return all;
  return since > policy.overrunSinceCheckpoint * estimate ? since : null;
}

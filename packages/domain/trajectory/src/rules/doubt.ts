import { newest, type Rule } from './finding.ts';

/** One identity with two contents, until the next verdict; or evidence after `done` that contradicts it. */
export const conflict: Rule = (state) =>
  state.doubt || state.contradicted ? { gate: null, at: newest(state), count: null } : null;

/** One gate on one diff state failed, passed and failed; until the diff moves. */
export const flaky: Rule = (state) => {
  for (const gate of state.gates)
    if (gate.flips[0] === 3 && gate.flips[1] === state.diffs.moves)
      return { gate: gate.id, at: newest(state), count: null };
  return null;
};

/** The work's last attempts, of whatever gates, gave no verdict. */
export const infrastructure: Rule = (state, policy) =>
  state.errored >= policy.infrastructure ? { gate: null, at: newest(state), count: state.errored } : null;

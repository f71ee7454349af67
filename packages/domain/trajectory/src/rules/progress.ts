import { newest, type Rule } from './finding.ts';

/** Some gate's newest verdict is a pass, and it stands. */
export const passStands: Rule = (state) => {
  for (const gate of state.gates) if (gate.newest === 'stands') return { gate: gate.id, at: gate.pass[0], count: null };
  return null;
};

/** Some gate's newest failing set is smaller than the one before. */
export const setShrank: Rule = (state) => {
  for (const gate of state.gates)
    if (gate.newest === 'shrank') return { gate: gate.id, at: newest(state), count: gate.set[0] };
  return null;
};

/** There is a verdict or a commit, and nothing else to say. */
export const nothingFired: Rule = (state) => (state.judged ? { gate: null, at: newest(state), count: null } : null);

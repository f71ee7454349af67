import { type Fingerprint, fingerprint, lanes } from './fingerprint.ts';
import { indexIn, isIn, sizeOf, without } from './memory.ts';
import { type Delegations, remembered } from './state.ts';

/** Any delegation that was opened and not completed. */
export const anyOpen = (delegations: Delegations): boolean =>
  delegations.open !== '' || delegations.more !== 0 || delegations.sums[0] !== 0 || delegations.sums[1] !== 0;

export function openDelegation(delegations: Delegations, id: string): Delegations {
  const print = fingerprint(id);
  if (isIn(delegations.open, print)) return delegations;
  if (sizeOf(delegations.open) < remembered.delegations) return { ...delegations, open: delegations.open + print };
  return { ...delegations, more: delegations.more + 1, sums: summed(delegations.sums, print, 1) };
}

/**
 * A completed one that is not remembered is taken for one of those beyond. Where it was none of them, the sums no longer
 * come to zero, and the work is taken to have one open.
 */
export function closeDelegation(delegations: Delegations, id: string): Delegations {
  const print = fingerprint(id);
  const index = indexIn(delegations.open, print);
  if (index !== -1) return { ...delegations, open: without(delegations.open, index) };
  if (delegations.more === 0) return delegations;
  return { ...delegations, more: delegations.more - 1, sums: summed(delegations.sums, print, -1) };
}

function summed(sums: Delegations['sums'], print: Fingerprint, sign: 1 | -1): Delegations['sums'] {
  const [high, low] = lanes(print);
  return [(sums[0] + sign * high) >>> 0, (sums[1] + sign * low) >>> 0];
}

import type { Policy } from '@headway/contracts';
import type { Fingerprint } from '../fingerprint.ts';
import { type DiffId, NONE, type WorkState } from '../state.ts';

/** What a rule looked at when it fired: the gate, the diff state and the number that it counted. */
export interface Finding {
  readonly gate: Fingerprint | null;
  readonly at: DiffId;
  readonly count: number | null;
}

/** A rule tells what it found, or `null` where it does not fire. */
export type Rule = (state: WorkState, policy: Policy) => Finding | null;

/** The newest known diff state, where any was observed. */
export const newest = (state: WorkState): DiffId => (state.diffs.observed ? state.diffs.at : NONE);

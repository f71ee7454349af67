import { anyOpen } from '../delegations.ts';
import type { Pause } from '../state.ts';
import { newest, type Rule } from './finding.ts';

/** That was the last substantive event, no delegation is open, and the work is not done. The count is in ticks. */
export const pausedBy =
  (pause: Pause): Rule =>
  (state, policy) => {
    if (state.pause !== pause || state.done !== 'no' || anyOpen(state.delegations)) return null;
    return { gate: null, at: newest(state), count: Math.min(state.ticks, policy.ticksBeforeWake) };
  };

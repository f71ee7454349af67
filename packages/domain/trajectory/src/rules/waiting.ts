import type { Policy } from '@headway/contracts';
import { anyOpen } from '../delegations.ts';
import type { Pause, WorkState } from '../state.ts';
import { newest, type Rule } from './finding.ts';

/** That was the last substantive event, no delegation is open, and the work is not done. The count is in ticks. */
export const pausedBy =
  (pause: Pause): Rule =>
  (state, policy) => {
    if (state.pause !== pause || state.done !== 'no' || anyOpen(state.delegations)) return null;
    return { gate: null, at: newest(state), count: Math.min(state.ticks, policy.ticksBeforeWake) };
  };

/** Whether ticks of the monitor are counted: the work is in a pause that can still be signalled. */
export const countsTicks = (state: WorkState): boolean =>
  state.pause !== null && state.held === null && state.done === 'no' && !state.released;

/** Whether the next tick of the monitor changes anything: the work is paused and was not signalled for it yet. */
export const awaitsTick = (state: WorkState, policy: Policy): boolean =>
  countsTicks(state) && state.ticks < policy.ticksBeforeWake;

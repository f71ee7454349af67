import type { Draft, Pause } from './state.ts';

/** Marks a substantive event: it begins a pause or ends one, and a held class stands no longer. */
export function substantive(draft: Draft, pause: Pause | null): void {
  draft.pause = pause;
  draft.ticks = 0;
  draft.rest = draft.diffs.at;
  draft.held = null;
}

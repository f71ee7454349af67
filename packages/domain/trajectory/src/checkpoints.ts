import type { EvidenceOf } from '@headway/contracts';
import { observe, printOf } from './diff-states.ts';
import { unchangedPrint } from './initial-state.ts';
import { isIn, touched } from './memory.ts';
import { type Draft, remembered } from './state.ts';
import { substantive } from './substantive.ts';

/**
 * A checkpoint of the worker or of a subagent that brings new work restarts the overrun counts; a subagent's stop begins
 * a pause; the worker's own ends one where the diff is not the one at the pause. The harness's does neither.
 */
export function foldCheckpoint(draft: Draft, checkpoint: EvidenceOf<'headway.checkpoint.recorded'>['data']): void {
  const { by, diff } = checkpoint;
  const print = diff ? printOf(draft.diffs, diff) : null;
  if (diff) observe(draft, diff);
  if (by === 'harness') return;
  if (print !== null) {
    if (print !== unchangedPrint) {
      if (!isIn(draft.checkpoints, print)) draft.spent = [0, 0, draft.spent[2], draft.spent[3]];
      draft.checkpoints = touched(draft.checkpoints, print, remembered.checkpoints);
    }
  }
  if (by === 'subagent-stop') substantive(draft, 'subagent-stop');
  else if (diff && draft.diffs.at !== draft.rest) substantive(draft, null);
}

import type { Diff, EvidenceOf } from '@headway/contracts';
import { idOf, observe, printById, printOf } from './diff-states.ts';
import { isContent } from './file-states.ts';
import { type Draft, NONE, type WorkState } from './state.ts';

/** A worker's own `done` is a claim; from anybody else it is final. */
export function foldDone(draft: Draft, done: EvidenceOf<'headway.work.done'>['data']): void {
  if (draft.done === 'no') draft.doneAt = draft.diffs.observed ? draft.diffs.at : NONE;
  const byOthers = done.by !== undefined && done.by !== 'worker';
  draft.done = byOthers || draft.done === 'confirmed' ? 'confirmed' : 'claimed';
}

/** Whether `done` is more than the worker's claim: somebody else said so, or a `done`-stage gate passed on that state. */
export const isConfirmed = (state: WorkState): boolean =>
  state.done === 'confirmed' ||
  (state.done === 'claimed' && state.doneAt !== NONE && state.doneGateAt === state.doneAt);

/**
 * Takes the diff state of an attempt or a commit. After `done`, another state than the one at `done` contradicts it;
 * where none was known then, the first one observed is taken for it.
 */
export function observeWork(draft: Draft, diff: Diff): void {
  const known = draft.done !== 'no' && draft.doneAt !== NONE && printById(draft.diffs, draft.doneAt) !== null;
  if (known && idOf(draft.diffs, printOf(draft.diffs, diff)) !== draft.doneAt) draft.contradicted = true;
  observe(draft, diff);
  if (draft.done !== 'no' && draft.doneAt === NONE) draft.doneAt = draft.diffs.at;
}

/** After `done`, an edit contradicts it, unless it is the late report of a content that is known already. */
export function contradictByEdit(draft: Draft, edit: EvidenceOf<'headway.edit.recorded'>['data']): void {
  if (draft.done === 'no' || edit.before === edit.after) return;
  if (!isContent(draft.files, edit.path, edit.after)) draft.contradicted = true;
}

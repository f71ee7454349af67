import type { Diff } from '@headway/contracts';
import { foldListedFiles } from './file-states.ts';
import { type Fingerprint, fingerprint, WIDTH } from './fingerprint.ts';
import { unchangedPrint } from './initial-state.ts';
import { indexIn, memberAt, without } from './memory.ts';
import { type DiffId, type DiffStates, type Draft, NONE, remembered, UNCHANGED } from './state.ts';

/**
 * The fingerprint of an observed diff state. The unchanged tree has one fixed hash, and at most one other: the first new
 * one that came with an empty list of files.
 */
export function printOf(diffs: DiffStates, diff: Diff): Fingerprint {
  const print = fingerprint(diff.hash);
  if (diffs.unchanged !== '') return print === diffs.unchanged ? unchangedPrint : print;
  return listsNothing(diff) && indexIn(diffs.seen, print) === -1 ? unchangedPrint : print;
}

const listsNothing = (diff: Diff): boolean => diff.files !== undefined && diff.files.length === 0;

/** The number of a diff state, or {@link NONE} where it was never seen or is forgotten. */
export function idOf(diffs: DiffStates, print: Fingerprint): DiffId {
  return diffs.ids[indexIn(diffs.seen, print)] ?? NONE;
}

/** The fingerprint of a state by its number, or `null` where it is forgotten. */
export function printById(diffs: DiffStates, id: DiffId): Fingerprint | null {
  const index = id === UNCHANGED ? 0 : diffs.ids.lastIndexOf(id);
  return index === -1 ? null : memberAt(diffs.seen, index);
}

/** Takes an observed diff state as the newest one, and tells what moved: the whole state, its files, passes lost. */
export function observe(draft: Draft, diff: Diff): void {
  const print = printOf(draft.diffs, diff);
  if (print === unchangedPrint && draft.diffs.unchanged === '' && listsNothing(diff))
    draft.diffs = { ...draft.diffs, unchanged: fingerprint(diff.hash) };
  const before = draft.diffs;
  const same = print === currentPrint(before);
  if (!same) {
    draft.diffs = moved(before, print);
    loseOlderPasses(draft, before.next);
  } else if (!before.observed) draft.diffs = { ...before, observed: true };
  countLines(draft, diff, !same);
  if (draft.diffs.at === UNCHANGED) foldListedFiles(draft, []);
  else if (diff.files !== undefined && draft.filesAt !== draft.diffs.at) foldListedFiles(draft, diff.files);
}

const currentPrint = (diffs: DiffStates): Fingerprint =>
  diffs.at === UNCHANGED ? unchangedPrint : diffs.seen.slice(-WIDTH);

function moved(diffs: DiffStates, print: Fingerprint): DiffStates {
  const moves = diffs.moves + 1;
  const index = indexIn(diffs.seen, print);
  if (index === 0) return { ...diffs, at: UNCHANGED, observed: true, moves, due: true };
  if (index !== -1) {
    const id = diffs.ids[index] ?? NONE;
    const ids = diffs.ids.toSpliced(index, 1);
    ids.push(id);
    return { ...diffs, seen: without(diffs.seen, index) + print, ids, at: id, observed: true, moves, due: true };
  }
  const id = diffs.next;
  let { seen, returned } = diffs;
  let { ids } = diffs;
  if (ids.length >= remembered.diffs) {
    const forgotten = ids[1];
    seen = without(seen, 1);
    ids = ids.toSpliced(1, 1);
    if (returned.length > 0) returned = returned.filter((one) => one !== forgotten);
  }
  return {
    ...diffs,
    seen: seen + print,
    ids: ids.toSpliced(ids.length, 0, id),
    at: id,
    next: id + 1,
    observed: true,
    moves,
    returned,
    due: false,
  };
}

/** A pass stands until the state returns to one that is older than the pass and not the one it was on. */
function loseOlderPasses(draft: Draft, next: DiffId): void {
  const { at } = draft.diffs;
  if (at >= next) return;
  const lost = (gate: Draft['gates'][number]) => gate.newest === 'stands' && at < gate.pass[1] && at !== gate.pass[0];
  if (draft.gates.some(lost))
    draft.gates = draft.gates.map((gate) => (lost(gate) ? { ...gate, newest: 'passed' as const } : gate));
}

function countLines(draft: Draft, diff: Diff, hasMoved: boolean): void {
  const { added, removed } = diff;
  const counted = added !== undefined && removed !== undefined;
  if (hasMoved) {
    draft.delta = counted && draft.lines !== null ? [added - draft.lines[0], removed - draft.lines[1]] : null;
    draft.lines = counted ? [added, removed] : null;
  } else if (counted && draft.lines === null) draft.lines = [added, removed];
}

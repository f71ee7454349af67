import { type Fingerprint, fingerprint, WIDTH } from './fingerprint.ts';
import { type Draft, type FileStates, NONE, remembered } from './state.ts';

/** The content that a file has in the base, where nothing tells its hash. */
const IN_BASE = fingerprint('file in its base state');
const ABSENT = fingerprint('file is absent');
const STEP = WIDTH + 1;

const contentPrint = (hash: string | null): Fingerprint => (hash === null ? ABSENT : fingerprint(hash));
const untouched = (path: Fingerprint): FileStates => [path, '', `${IN_BASE}-`, 0];
const currentOf = ([, , states]: FileStates): Fingerprint => states.slice(-STEP, -1);

/** How many different states of a file it came back to. */
export function returnsOf([, , states]: FileStates): number {
  let count = 0;
  for (let at = WIDTH; at < states.length; at += STEP) if (states[at] === '+') count += 1;
  return count;
}

function visited(file: FileStates, content: Fingerprint): FileStates {
  const [path, base, states] = file;
  const print = content === base ? IN_BASE : content;
  if (currentOf(file) === print) return file;
  for (let at = 0; at < states.length; at += STEP) {
    if (states.slice(at, at + WIDTH) !== print) continue;
    return [path, base, states.slice(0, at) + states.slice(at + STEP) + states.slice(at, at + STEP), 1];
  }
  const full = states.length >= remembered.fileStates * STEP;
  return [path, base, `${full ? states.slice(STEP) : states}${print}-`, 0];
}

/** Takes the files of an observed diff state: those listed, and every other one in its base state. */
export function foldListedFiles(draft: Draft, listed: readonly { path: string; hash: string | null }[]): void {
  draft.filesAt = draft.diffs.at;
  if (listed.length === 0 && draft.files.length === 0) return;
  const contents = new Map(listed.map((file) => [fingerprint(file.path), contentPrint(file.hash)]));
  const idle: FileStates[] = [];
  const changed: FileStates[] = [];
  for (const file of draft.files) {
    const content = contents.get(file[0]);
    if (content === undefined) idle.push(visited(file, IN_BASE));
    else changed.push(visited(file, content));
    contents.delete(file[0]);
  }
  for (const [path, content] of contents) {
    if (changed.length >= remembered.files) break;
    changed.push(visited(untouched(path), content));
  }
  const room = remembered.files - changed.length;
  draft.files = [...(room > 0 ? idle.slice(-room) : []), ...changed];
}

/** Takes an edit: the file was in one state, and is in another. */
export function foldEdit(draft: Draft, path: string, before: string | null, after: string | null): void {
  const print = fingerprint(path);
  const index = draft.files.findIndex(([one]) => one === print);
  const known = draft.files[index] ?? untouched(print);
  const was = contentPrint(before);
  const [, base, states, due] = known;
  const file: FileStates = currentOf(known) === IN_BASE && base === '' ? [print, was, states, due] : known;
  const others = index === -1 ? draft.files : draft.files.toSpliced(index, 1);
  draft.files = [...others.slice(-(remembered.files - 1)), visited(visited(file, was), contentPrint(after))];
  draft.filesAt = NONE;
}

/** Whether a file is known to have this content now. */
export function isContent(files: readonly FileStates[], path: string, hash: string | null): boolean {
  const print = fingerprint(path);
  const file = files.find(([one]) => one === print);
  if (file === undefined) return false;
  const content = contentPrint(hash);
  return currentOf(file) === (content === file[1] ? IN_BASE : content);
}

/** It came back, and no failed attempt has been seen since. */
export const isDue = (file: FileStates): boolean => file[3] === 1;

/** The first failed attempt since files came back: each counts as a return where `counts`. */
export function settleFileReturns(files: readonly FileStates[], counts: boolean): readonly FileStates[] {
  if (!files.some(isDue)) return files;
  return files.map((file) => {
    const [path, base, states, due] = file;
    return due === 0 ? file : [path, base, counts ? `${states.slice(0, -1)}+` : states, 0];
  });
}

/** Returns counted so far no longer count; the states stay known. */
export function forgetFileReturns(files: readonly FileStates[]): readonly FileStates[] {
  return files.map(([path, base, states]) => {
    let uncounted = '';
    for (let at = 0; at < states.length; at += STEP) uncounted += `${states.slice(at, at + WIDTH)}-`;
    return [path, base, uncounted, 0];
  });
}

import type { EvidenceOf } from '@headway/contracts';
import { fingerprint, WIDTH } from './fingerprint.ts';
import { isIn, memberAt, type Seen, sizeOf } from './memory.ts';
import { type Gate, remembered } from './state.ts';

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];

/** Exit codes of a shell that could not run the command at all. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** What an attempt says in the end: a failure that nothing was run for, or that said nothing at all, is no verdict. */
export function outcomeOf(attempt: Attempt): Attempt['outcome'] {
  if (attempt.outcome !== 'failed') return attempt.outcome;
  if (attempt.exitCode === NOT_EXECUTABLE || attempt.exitCode === NOT_FOUND) return 'errored';
  const silent = attempt.output !== undefined && !/\S/.test(attempt.output);
  return silent && (attempt.failures === undefined || attempt.failures.length === 0) ? 'errored' : 'failed';
}

/** A failing set as it is remembered: its size, and its smallest hashes in order. */
export interface FailingSet {
  readonly keys: Seen;
  readonly size: number;
}

/** The failing set of keys, in any order and more than once each. */
export function failingSet(failing: readonly string[]): FailingSet {
  const prints = failing.map(fingerprint);
  prints.sort();
  let keys = '';
  let size = 0;
  for (let at = 0; at < prints.length; at += 1) {
    const print = prints[at];
    if (print === undefined || print === prints[at - 1]) continue;
    size += 1;
    if (size <= remembered.keys) keys += print;
  }
  return { keys, size };
}

const isCut = (set: FailingSet): boolean => set.size * WIDTH > set.keys.length;

/** Whether a key may be in a set: certain, unless the set is cut and the key is beyond its largest known one. */
function mayHold(set: FailingSet, key: string): boolean {
  return isIn(set.keys, key) || (isCut(set) && key > set.keys.slice(-WIDTH));
}

/** Whether a set is smaller than another, as far as is known: a strict subset. */
export function isSmaller(set: FailingSet, than: FailingSet): boolean {
  if (set.size >= than.size) return false;
  for (let at = 0; at < sizeOf(set.keys); at += 1) if (!mayHold(than, memberAt(set.keys, at))) return false;
  return true;
}

/** For each key of a set, as bits: whether every set that the gate had before held it too. */
export function coreOf(set: FailingSet, gate: Gate): number {
  let core = 0;
  for (let at = 0; at < sizeOf(set.keys); at += 1) {
    const key = memberAt(set.keys, at);
    const index = gate.set[2] === 0 ? -1 : indexOfKey(gate.keys, key);
    const inAll =
      gate.set[2] === 0 ||
      (index === -1 ? mayHold({ keys: gate.keys, size: gate.set[0] }, key) : (gate.set[1] & (1 << index)) !== 0);
    if (inAll) core |= 1 << at;
  }
  return core >>> 0;
}

function indexOfKey(keys: Seen, key: string): number {
  for (let at = 0; at < sizeOf(keys); at += 1) if (memberAt(keys, at) === key) return at;
  return -1;
}

/** Whether a set is smaller than every set that the gate had before. */
export function isSmallest(set: FailingSet, least: number, core: number): boolean {
  if (least === 0 || set.size >= least) return false;
  const all = sizeOf(set.keys) === 32 ? 0xffffffff : (1 << sizeOf(set.keys)) - 1;
  return core >>> 0 === all >>> 0;
}

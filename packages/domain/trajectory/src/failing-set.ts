import type { EvidenceOf } from '@headway/contracts';
import { signatureOf } from '@headway/signatures';
import { type Fingerprint, fingerprint, WIDTH } from './fingerprint.ts';
import { isIn, memberAt, type Seen, sizeOf } from './memory.ts';
import { type Gate, remembered } from './state.ts';

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];

/** Exit codes of a shell that could not run the command at all. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** Signatures are SHA-256 in hex; anything else of this length at most is taken as it stands. */
const SIGNATURE_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/** What an attempt says in the end: a failure that nothing was run for, or that said nothing at all, is no verdict. */
export function outcomeOf(attempt: Attempt): Attempt['outcome'] {
  if (attempt.outcome !== 'failed') return attempt.outcome;
  if (attempt.exitCode === NOT_EXECUTABLE || attempt.exitCode === NOT_FOUND) return 'errored';
  const silent = attempt.output !== undefined && !/\S/.test(attempt.output);
  return silent && (attempt.failures === undefined || attempt.failures.length === 0) ? 'errored' : 'failed';
}

const KNOWN_SETS = 1_024;
const KNOWN_KEYS = 16;
const KNOWN_LENGTH = 1_024;
let known = new Map<string, string | null>();

/**
 * The signature of a failed attempt: what ingest read from it, else that of its failures. What is remembered between
 * calls only saves time.
 */
export function signatureOfAttempt(attempt: Attempt): string | null {
  const { failures, signature } = attempt;
  if (signature !== undefined) {
    const { value } = signature;
    return value === null || SIGNATURE_TEXT.test(value) ? value : fingerprint(value);
  }
  if (failures === undefined || failures.length === 0) return null;
  let text = '';
  let bounded = failures.length <= KNOWN_KEYS;
  for (let at = 0; bounded && at < failures.length; at += 1) {
    const key = failures[at]?.key ?? '';
    text += `${key.length}:${key}`;
    bounded = text.length <= KNOWN_LENGTH;
  }
  const compute = () =>
    signatureOf(
      attempt.gate,
      failures.map((failure) => failure.key),
    );
  if (!bounded) return compute();
  text = `${attempt.gate.length}:${attempt.gate}${text}`;
  let value = known.get(text);
  if (value === undefined) {
    value = compute();
    if (known.size >= KNOWN_SETS) known = new Map();
    known.set(text, value);
  }
  return value;
}

/** A failing set as it is remembered: its size, and its smallest hashes in order. */
export interface FailingSet {
  readonly keys: Seen;
  readonly size: number;
}

/** The failing set of an attempt, or `null` where its keys are not known. */
export function failingSet(attempt: Attempt): FailingSet | null {
  const { failures } = attempt;
  if (failures === undefined || failures.length === 0) return null;
  const [only] = failures;
  if (failures.length === 1 && only !== undefined) return { keys: fingerprint(only.key), size: 1 };
  const prints: Fingerprint[] = [];
  for (const { key } of failures) prints.push(fingerprint(key));
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

import { type EvidenceOf, SHOWN_FAILURES } from '@headway/contracts';
import { signatureOf } from '@headway/signatures';
import { type FailingSet, failingSet } from './failing-set.ts';
import { fingerprint } from './fingerprint.ts';
import { clipped } from './names.ts';
import { remembered } from './state.ts';

type Attempt = EvidenceOf<'headway.gate.attempted'>['data'];

/** What the listed failures of a gate tell, each part worked out when it is asked for first. */
export class Failures {
  readonly #gate: string;
  readonly #keys: readonly string[];
  #signature: string | null | undefined;
  #set: FailingSet | undefined;
  #shown: readonly string[] | undefined;

  constructor(gate: string, keys: readonly string[]) {
    this.#gate = gate;
    this.#keys = keys;
  }

  get signature(): string | null {
    if (this.#signature === undefined) this.#signature = signatureOf(this.#gate, this.#keys);
    return this.#signature;
  }

  get set(): FailingSet {
    this.#set ??= failingSet(this.#keys);
    return this.#set;
  }

  /** The first keys in text order, short enough to be kept in a state. */
  get shown(): readonly string[] {
    this.#shown ??= shownOf(this.#keys);
    return this.#shown;
  }
}

function shownOf(all: readonly string[]): readonly string[] {
  const keys = [...new Set(all)].sort().slice(0, SHOWN_FAILURES);
  const room = Math.floor(remembered.shownKeys / keys.length);
  return keys.map((key) => clipped(key, room));
}

/** Lists of failures that are remembered between calls; longer ones are read anew. */
const KNOWN_LISTS = 1_024;
const KNOWN_KEYS = 16;
const KNOWN_LENGTH = 1_024;
let known = new Map<string, Failures>();

/** The failures that an attempt lists, or `null` where it lists none. What is remembered only saves time. */
export function failuresOf({ gate, failures }: Attempt): Failures | null {
  if (failures === undefined || failures.length === 0) return null;
  const read = () =>
    new Failures(
      gate,
      failures.map(({ key }) => key),
    );
  if (failures.length > KNOWN_KEYS) return read();
  let text = `${gate.length}:${gate}`;
  for (const { key } of failures) {
    text += `${key.length}:${key}`;
    if (text.length > KNOWN_LENGTH) return read();
  }
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= KNOWN_LISTS) known = new Map();
  const made = read();
  known.set(text, made);
  return made;
}

/** Signatures are SHA-256 in hex; anything else of this length at most is taken as it stands. */
const SIGNATURE_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/** The signature of a failed attempt: what ingest read from it, else that of its failures. */
export function signatureOfAttempt({ signature }: Attempt, failures: Failures | null): string | null {
  if (signature === undefined) return failures === null ? null : failures.signature;
  const { value } = signature;
  return value === null || SIGNATURE_TEXT.test(value) ? value : fingerprint(value);
}

import { digest, hash64 } from '@headway/kernel';

/** Identities remembered: at least this many, at most twice. */
export const REMEMBERED_IDENTITIES = 131_072;

/** Numbers of one entry: 64 bits of the identity's hash and 64 of the content's. */
const LANES = 4;
const FIRST_SLOTS = 1_024;

/**
 * Whether an event's identity came before, with the same content or another. Bounded: the older half of what it knows is
 * forgotten when the younger is full, so an identity that comes again after that counts as new.
 */
export class IdentityMemory {
  readonly #most: number;
  #young = new Table();
  #old = new Table();

  constructor(most = REMEMBERED_IDENTITIES) {
    this.#most = most;
  }

  /** Takes the identity for this content where it is free; what was taken first stands. */
  take(source: string, id: string, content: string): 'new' | 'duplicate' | 'conflict' {
    const key = lanesOf(digest(source, id));
    const text = lanesOf(hash64(content));
    const standing = this.#young.find(key) ?? this.#old.find(key);
    if (standing !== null) return standing[0] === text[0] && standing[1] === text[1] ? 'duplicate' : 'conflict';
    if (this.#young.size >= this.#most) {
      this.#old = this.#young;
      this.#young = new Table();
    }
    this.#young.add(key, text);
    return 'new';
  }
}

type Lanes = readonly [number, number];

/** The first 64 bits of a hash in hex. An all-zero key marks a free slot, so no key is all zero. */
const lanesOf = (hex: string): Lanes => [
  Number.parseInt(hex.slice(0, 8), 16) || 1,
  Number.parseInt(hex.slice(8, 16), 16),
];

/** Hashes in one array of numbers, which grows by doubling: a million strings would cost ten times the memory. */
class Table {
  size = 0;
  #slots = FIRST_SLOTS;
  #lanes = new Uint32Array(FIRST_SLOTS * LANES);

  find(key: Lanes): Lanes | null {
    const at = this.#slotOf(key);
    if (this.#lanes[at] === 0) return null;
    return [this.#lanes[at + 2] ?? 0, this.#lanes[at + 3] ?? 0];
  }

  add(key: Lanes, content: Lanes): void {
    if (this.size * 2 >= this.#slots) this.#grow();
    this.#lanes.set([...key, ...content], this.#slotOf(key));
    this.size += 1;
  }

  /** Where the key stands, or the free place where it belongs. At most half of the slots are taken, so there is one. */
  #slotOf(key: Lanes): number {
    let slot = key[1] & (this.#slots - 1);
    for (;;) {
      const at = slot * LANES;
      if (this.#lanes[at] === 0 || (this.#lanes[at] === key[0] && this.#lanes[at + 1] === key[1])) return at;
      slot = (slot + 1) & (this.#slots - 1);
    }
  }

  #grow(): void {
    const before = this.#lanes;
    this.#slots *= 2;
    this.#lanes = new Uint32Array(this.#slots * LANES);
    for (let at = 0; at < before.length; at += LANES) {
      const entry = before.subarray(at, at + LANES);
      if (entry[0] !== 0) this.#lanes.set(entry, this.#slotOf([entry[0] ?? 0, entry[1] ?? 0]));
    }
  }
}

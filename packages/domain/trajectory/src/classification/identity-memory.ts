import { fingerprintOnce } from '../fingerprint.ts';

/** Identities remembered: at least this many, at most twice. */
export const REMEMBERED_IDENTITIES = 131_072;

/**
 * Whether an event's identity came before, with the same content or another. Bounded: the older half of what it knows is
 * forgotten when the younger is full, so an identity that comes again after that counts as new.
 */
export class IdentityMemory {
  readonly #most: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(most = REMEMBERED_IDENTITIES) {
    this.#most = most;
  }

  /** Takes the identity for this content where it is free; what was taken first stands. */
  take(source: string, id: string, content: string): 'new' | 'duplicate' | 'conflict' {
    const key = fingerprintOnce(`${source.length}:${source}${id}`);
    const text = fingerprintOnce(content);
    const standing = this.#young.get(key) ?? this.#old.get(key);
    if (standing !== undefined) return standing === text ? 'duplicate' : 'conflict';
    if (this.#young.size >= this.#most) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, text);
    return 'new';
  }
}

import { outputLimits } from '../limits.ts';
import type { Failure } from '../readers/reader.ts';

/**
 * Distinct keys, bounded. Past twice the limit the larger half in text order goes, so that which keys stay does not
 * depend on the order they came in.
 */
export class KeySet {
  #byKey = new Map<string, string>();

  add(key: string, message: string): void {
    const cut = key.slice(0, outputLimits.keyChars);
    if (cut === '' || this.#byKey.has(cut)) return;
    this.#byKey.set(cut, message.trim().slice(0, outputLimits.messageChars));
    if (this.#byKey.size > 2 * outputLimits.keys) this.#shrink();
  }

  remove(key: string): void {
    this.#byKey.delete(key.slice(0, outputLimits.keyChars));
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The keys in text order. */
  failures(): Failure[] {
    this.#shrink();
    return [...this.#byKey].map(([key, message]) => (message === key ? { key } : { key, message }));
  }

  #shrink(): void {
    const sorted = [...this.#byKey].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#byKey = new Map(sorted.slice(0, outputLimits.keys));
  }
}

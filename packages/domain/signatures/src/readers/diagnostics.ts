import { maskMessage } from '../mask.ts';

/**
 * What a compiler says, without what differs between two of the same: `‘prize’ undeclared` is
 * `'prize' undeclared`, `too many arguments (8/5)` is `too many arguments (<n>/<n>)`. Names stay: they say what fails.
 */
export function diagnosticText(message: string): string {
  const plain = message
    .replace(/[‘’`]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/(?<![\w<.-])-?\d+(?:\.\d+)?(?![\w>])/g, '<n>');
  return maskMessage(plain);
}

/** Distinct texts in the order they came, at most `most`: what a reader remembers until it knows more. */
export class Remembered<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  set(name: string, value: Value): void {
    if (this.#values.size < this.#most || this.#values.has(name)) this.#values.set(name, value);
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  clear(): void {
    this.#values.clear();
  }

  get size(): number {
    return this.#values.size;
  }

  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }
}

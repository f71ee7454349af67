const START = 1;
const OTHER = 0;
const MOST_READERS = 64;

/**
 * Finds in one pass over a line which readers' words stand in it (the automaton of Aho and Corasick, with its failure
 * links folded into the table): the cost depends on the line alone, not on how many words there are.
 */
export class WordIndex {
  /** Bits of the readers found by the last `find`: reader 0 to 31, and 32 to 63. */
  low = 0;
  high = 0;
  readonly #ascii = new Uint16Array(128);
  readonly #beyond = new Map<number, number>();
  readonly #classes: number;
  readonly #next: Int32Array;
  readonly #low: Int32Array;
  readonly #high: Int32Array;

  /** `words[n]` are the words of reader n. */
  constructor(words: readonly (readonly string[])[]) {
    if (words.length > MOST_READERS) throw new Error(`more than ${MOST_READERS} readers`);
    const patterns = words.flatMap((list, reader) => list.map((word) => ({ reader, codes: codesOf(word) })));
    let classes = START + 1;
    for (const { codes } of patterns)
      for (const code of codes) {
        if (code === START || this.#classOf(code) !== OTHER) continue;
        if (code < 128) this.#ascii[code] = classes;
        else this.#beyond.set(code, classes);
        classes += 1;
      }
    this.#classes = classes;
    const most = patterns.reduce((sum, { codes }) => sum + codes.length, 1);
    this.#next = new Int32Array(most * classes);
    this.#low = new Int32Array(most);
    this.#high = new Int32Array(most);
    let states = 1;
    for (const { reader, codes } of patterns) {
      let state = 0;
      for (const code of codes) {
        const at = state * classes + (code === START ? START : this.#classOf(code));
        if (this.#next[at] === 0) this.#next[at] = states++;
        state = this.#next[at] as number;
      }
      if (reader < 32) this.#low[state] = (this.#low[state] as number) | (1 << reader);
      else this.#high[state] = (this.#high[state] as number) | (1 << (reader - 32));
    }
    this.#link(states);
  }

  /** Reads a line; the answer is whether any reader's word was found, and which in `low` and `high`. */
  find(text: string): boolean {
    const next = this.#next;
    const classes = this.#classes;
    const ascii = this.#ascii;
    let state = next[START] as number;
    let low = this.#low[state] as number;
    let high = this.#high[state] as number;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? (ascii[code] as number) : (this.#beyond.get(code) ?? OTHER);
      state = kind === OTHER ? 0 : (next[state * classes + kind] as number);
      low |= this.#low[state] as number;
      high |= this.#high[state] as number;
    }
    this.low = low;
    this.high = high;
    return (low | high) !== 0;
  }

  #classOf(code: number): number {
    return code < 128 ? (this.#ascii[code] as number) : (this.#beyond.get(code) ?? OTHER);
  }

  /** Fills what the trie leaves open, breadth first: where to go on when the longest match breaks off. */
  #link(states: number): void {
    const fails = new Int32Array(states);
    const queue: number[] = [];
    for (let kind = START; kind < this.#classes; kind += 1) {
      const state = this.#next[kind] as number;
      if (state !== 0) queue.push(state);
    }
    for (let read = 0; read < queue.length; read += 1) {
      const state = queue[read] as number;
      const fail = fails[state] as number;
      this.#low[state] = (this.#low[state] as number) | (this.#low[fail] as number);
      this.#high[state] = (this.#high[state] as number) | (this.#high[fail] as number);
      for (let kind = START; kind < this.#classes; kind += 1) {
        const at = state * this.#classes + kind;
        const target = this.#next[at] as number;
        const otherwise = this.#next[fail * this.#classes + kind] as number;
        if (target === 0) this.#next[at] = otherwise;
        else {
          fails[target] = otherwise;
          queue.push(target);
        }
      }
    }
  }
}

function codesOf(word: string): number[] {
  const anchored = word.startsWith('^');
  const plain = anchored ? word.slice(1) : word;
  if (plain.length < (anchored ? 1 : 2)) throw new Error(`too short a word to wake a reader: ${JSON.stringify(word)}`);
  const codes = Array.from({ length: plain.length }, (_, at) => plain.charCodeAt(at));
  return anchored ? [START, ...codes] : codes;
}

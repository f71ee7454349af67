/** Kinds of characters: any that stands in no word, one that is no text, and the place before the line's text. */
const OTHER = 0;
const CONTROL = 1;
const START = 2;
const FIRST_KIND = 3;
const MOST_READERS = 64;
const TAB = 9;
const SPACE = 32;
const DELETE = 127;
const LAST_C1 = 0x9f;
const invisible = [0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xfffd];

/**
 * Finds in one pass over a line which readers' words stand in it (the automaton of Aho and Corasick, with its failure
 * links folded into the table): the cost depends on the line alone, not on how many words there are.
 */
export class WordIndex {
  /** Bits of the readers found by the last `find`: reader 0 to 31, and 32 to 63. */
  low = 0;
  high = 0;
  /** The line has escapes or other characters that are no text. */
  hasControls = false;
  /** Of each UTF-16 code unit, its kind. */
  readonly #kindOf = new Uint16Array(0x1_00_00);
  readonly #kinds: number;
  /** Where to go from a state (a row of the table, times its length) by a kind of character. */
  readonly #next: Int32Array;
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  /** 1 where a word ends. */
  readonly #ends: Uint8Array;
  readonly #start: number;

  /** `words[n]` are the words of reader n. */
  constructor(words: readonly (readonly string[])[]) {
    if (words.length > MOST_READERS) throw new Error(`more than ${MOST_READERS} readers`);
    for (let code = 0; code < SPACE; code += 1) if (code !== TAB) this.#kindOf[code] = CONTROL;
    for (let code = DELETE; code <= LAST_C1; code += 1) this.#kindOf[code] = CONTROL;
    for (const code of invisible) this.#kindOf[code] = CONTROL;
    const patterns = words.flatMap((list, reader) => list.map((word) => ({ reader, ...codesOf(word) })));
    let kinds = FIRST_KIND;
    for (const code of patterns.flatMap(({ codes }) => codes)) {
      if (this.#kindOf[code] === OTHER) this.#kindOf[code] = kinds++;
    }
    this.#kinds = kinds;
    const most = patterns.reduce((sum, { codes }) => sum + codes.length + 1, 1);
    this.#next = new Int32Array(most * kinds);
    this.#low = new Int32Array(most * kinds);
    this.#high = new Int32Array(most * kinds);
    let states = 1;
    for (const { reader, codes, isAnchored } of patterns) {
      let state = 0;
      for (const kind of [...(isAnchored ? [START] : []), ...codes.map((code) => this.#kindOf[code] as number)]) {
        if (this.#next[state + kind] === 0) this.#next[state + kind] = kinds * states++;
        state = this.#next[state + kind] as number;
      }
      const bits = reader < 32 ? this.#low : this.#high;
      bits[state] = (bits[state] as number) | (1 << (reader % 32));
    }
    this.#link(states);
    this.#ends = Uint8Array.from(this.#low, (bits, state) => (bits === 0 && this.#high[state] === 0 ? 0 : 1));
    this.#start = this.#next[START] as number;
  }

  /**
   * Reads a line whose text stands between `from` and `to`. The answer is whether any reader's word was found; which, is in
   * `low` and `high`.
   */
  find(line: string, from: number, to: number): boolean {
    const [next, kinds, lows, highs] = [this.#next, this.#kindOf, this.#low, this.#high];
    const ends = this.#ends;
    let state = this.#start;
    let low = lows[state] as number;
    let high = highs[state] as number;
    let hasControls = false;
    for (let at = from; at < to; at += 1) {
      const kind = kinds[line.charCodeAt(at)] as number;
      if (kind < FIRST_KIND) {
        state = 0;
        if (kind === CONTROL) hasControls = true;
      } else {
        state = next[state + kind] as number;
        if (ends[state] === 1) {
          low |= lows[state] as number;
          high |= highs[state] as number;
        }
      }
    }
    this.low = low;
    this.high = high;
    this.hasControls = hasControls;
    return (low | high) !== 0;
  }

  /** Fills what the trie leaves open, breadth first: where to go on when the longest match breaks off. */
  #link(states: number): void {
    const fails = new Int32Array(states * this.#kinds);
    const queue: number[] = [];
    for (let kind = START; kind < this.#kinds; kind += 1) {
      const state = this.#next[kind] as number;
      if (state !== 0) queue.push(state);
    }
    for (let read = 0; read < queue.length; read += 1) {
      const state = queue[read] as number;
      const fail = fails[state] as number;
      this.#low[state] = (this.#low[state] as number) | (this.#low[fail] as number);
      this.#high[state] = (this.#high[state] as number) | (this.#high[fail] as number);
      for (let kind = START; kind < this.#kinds; kind += 1) {
        const target = this.#next[state + kind] as number;
        const otherwise = this.#next[fail + kind] as number;
        if (target === 0) this.#next[state + kind] = otherwise;
        else {
          fails[target] = otherwise;
          queue.push(target);
        }
      }
    }
  }
}

function codesOf(word: string): { codes: number[]; isAnchored: boolean } {
  const isAnchored = word.startsWith('^');
  const plain = isAnchored ? word.slice(1) : word;
  if (plain.length < (isAnchored ? 1 : 2))
    throw new Error(`too short a word to wake a reader: ${JSON.stringify(word)}`);
  return { codes: Array.from({ length: plain.length }, (_, at) => plain.charCodeAt(at)), isAnchored };
}

/** Kinds of bytes: one that ends a line, one that is no text, any that stands in no word, the place before the text. */
const END = 0;
const CONTROL = 1;
const OTHER = 2;
const START = 3;
const FIRST_KIND = 4;
const MOST_READERS = 64;
const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const DELETE = 127;
const ASCII = 0x80;
/** Characters that are no text and have bytes of their own: C1 controls, marks of no width, the one for broken bytes. */
const invisible = [
  ...Array.from({ length: 0x20 }, (_, at) => 0x80 + at),
  ...[0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xfffd],
].map((code) => String.fromCharCode(code));

/** What an accepting state says. */
interface Found {
  low: number;
  high: number;
  isInvisible: boolean;
}

/**
 * Finds in one pass over the bytes (UTF-8) of a line which readers' words stand in it, and where it ends (the automaton of
 * Aho and Corasick, with its failure links folded into the table): the cost depends on the line alone, not on how many
 * words there are, and nothing is allocated.
 */
export class WordIndex {
  /** Bits of the readers found by the last `find`: reader 0 to 31, and 32 to 63. */
  low = 0;
  high = 0;
  /** The line has escapes or other characters that are no text. */
  hasControls = false;
  isAscii = true;
  /** Where the text began, after its indentation. */
  begin = 0;
  readonly #kindOf = new Uint8Array(0x1_00);
  #kinds = FIRST_KIND;
  /** Where to go from a state (a row of the table, times its length) by a kind of byte. Accepting ones are the last. */
  #next: Int32Array;
  #accepting = 0;
  readonly #found: Found[] = [];
  #start: number;

  /** `words[n]` are the words of reader n. */
  constructor(words: readonly (readonly string[])[]) {
    if (words.length > MOST_READERS) throw new Error(`more than ${MOST_READERS} readers`);
    const patterns = [
      ...words.flatMap((list, reader) => list.map((word) => ({ reader, ...bytesOf(word) }))),
      ...invisible.map((word) => ({ reader: null, ...bytesOf(word) })),
    ];
    this.#sort(patterns.flatMap(({ bytes }) => bytes));
    const most = patterns.reduce((sum, { bytes }) => sum + bytes.length + 1, 1);
    this.#next = new Int32Array(most * this.#kinds);
    const found: Found[] = [{ low: 0, high: 0, isInvisible: false }];
    for (const { reader, bytes, isAnchored } of patterns) {
      let state = 0;
      for (const kind of [...(isAnchored ? [START] : []), ...bytes.map((byte) => this.#kindOf[byte] as number)]) {
        if (this.#next[state + kind] === 0) {
          this.#next[state + kind] = this.#kinds * found.length;
          found.push({ low: 0, high: 0, isInvisible: false });
        }
        state = this.#next[state + kind] as number;
      }
      const at = found[state / this.#kinds] as Found;
      if (reader === null) at.isInvisible = true;
      else if (reader < 32) at.low |= 1 << reader;
      else at.high |= 1 << (reader - 32);
    }
    this.#link(found);
    this.#acceptingLast(found);
    this.#start = this.#next[START] as number;
  }

  /**
   * Reads the line that begins at `from`, at most up to `to`. The answer is where it ends: at a line feed, a carriage return,
   * or `to`.
   */
  find(bytes: Uint8Array, from: number, to: number): number {
    const [next, kinds, accepting] = [this.#next, this.#kindOf, this.#accepting];
    let at = from;
    while (at < to && (bytes[at] === SPACE || bytes[at] === TAB)) at += 1;
    this.begin = at;
    this.low = 0;
    this.high = 0;
    this.hasControls = false;
    let state = this.#start;
    let all = 0;
    if (state >= accepting) this.#accept(state);
    for (; at < to; at += 1) {
      const byte = bytes[at] as number;
      const kind = kinds[byte] as number;
      if (kind < OTHER) {
        if (kind === END) break;
        this.hasControls = true;
      }
      all |= byte;
      state = next[state + kind] as number;
      if (state >= accepting) this.#accept(state);
    }
    this.isAscii = all < ASCII;
    return at;
  }

  #accept(state: number): void {
    const found = this.#found[(state - this.#accepting) / this.#kinds] as Found;
    this.low |= found.low;
    this.high |= found.high;
    if (found.isInvisible) this.hasControls = true;
  }

  /** Every byte that stands in a word is a kind of its own. */
  #sort(used: readonly number[]): void {
    const kindOf = this.#kindOf.fill(OTHER);
    for (let byte = 0; byte < SPACE; byte += 1) if (byte !== TAB) kindOf[byte] = CONTROL;
    // The last ones begin no character.
    for (const byte of [DELETE, 0xc0, 0xc1, ...Array.from({ length: 11 }, (_, at) => 0xf5 + at)])
      kindOf[byte] = CONTROL;
    for (const byte of used) if (kindOf[byte] === OTHER) kindOf[byte] = this.#kinds++;
    kindOf[LINE_FEED] = END;
    kindOf[RETURN] = END;
  }

  /** Fills what the trie leaves open, breadth first: where to go on when the longest match breaks off. */
  #link(found: readonly Found[]): void {
    const fails = new Int32Array(found.length * this.#kinds);
    const queue: number[] = [];
    for (let kind = START; kind < this.#kinds; kind += 1) {
      const state = this.#next[kind] as number;
      if (state !== 0) queue.push(state);
    }
    for (let read = 0; read < queue.length; read += 1) {
      const state = queue[read] as number;
      const fail = fails[state] as number;
      const [own, shorter] = [found[state / this.#kinds] as Found, found[fail / this.#kinds] as Found];
      own.low |= shorter.low;
      own.high |= shorter.high;
      own.isInvisible ||= shorter.isInvisible;
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

  /** Sorts the rows so that one comparison tells whether a word ends. */
  #acceptingLast(found: readonly Found[]): void {
    const kinds = this.#kinds;
    const accepts = ({ low, high, isInvisible }: Found): boolean => low !== 0 || high !== 0 || isInvisible;
    const order = [...found.keys()].sort(
      (a, b) => Number(accepts(found[a] as Found)) - Number(accepts(found[b] as Found)),
    );
    const rowOf = new Int32Array(found.length);
    for (const [row, state] of order.entries()) rowOf[state] = row;
    const next = new Int32Array(found.length * kinds);
    for (const [row, state] of order.entries()) {
      for (let kind = 0; kind < kinds; kind += 1)
        next[row * kinds + kind] = (rowOf[(this.#next[state * kinds + kind] as number) / kinds] as number) * kinds;
    }
    this.#next = next;
    const accepting = order.filter((state) => accepts(found[state] as Found));
    this.#accepting = (found.length - accepting.length) * kinds;
    this.#found.push(...accepting.map((state) => found[state] as Found));
  }
}

function bytesOf(word: string): { bytes: number[]; isAnchored: boolean } {
  const isAnchored = word.startsWith('^');
  const plain = isAnchored ? word.slice(1) : word;
  const bytes = [...Buffer.from(plain)];
  if (bytes.length < (isAnchored ? 1 : 2))
    throw new Error(`too short a word to wake a reader: ${JSON.stringify(word)}`);
  return { bytes, isAnchored };
}

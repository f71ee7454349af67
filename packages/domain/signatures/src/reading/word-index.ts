/** Kinds of bytes: one that ends a line, one that is no text, any that stands in no word, the place before the text. */
const END = 0;
const CONTROL = 1;
const OTHER = 2;
const START = 3;
const FIRST_KIND = 4;
const MOST_READERS = 64;
const ROW_BITS = 7;
const ROW = 1 << ROW_BITS;
const MOST_STATES = 0x1_00_00;
const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const DELETE = 127;
const ASCII = 0x80;
/** Characters that are no text: what begins a sequence in C1, marks of no width, the one for broken bytes. */
const invisible = [0x9b, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xfffd].map((code) =>
  String.fromCharCode(code),
);

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
  /** The line has escapes or other characters that are no text (of C1, only what begins a sequence). */
  hasControls = false;
  isAscii = true;
  /** Where the text began, after its indentation. */
  begin = 0;
  readonly #kindOf = new Uint8Array(0x1_00);
  #kinds = FIRST_KIND;
  /** Where to go from a state by a kind of byte, the row of a state being `ROW` long. Accepting states are the last. */
  readonly #next: Uint16Array;
  readonly #accepting: number;
  /** Of each accepting state. */
  readonly #found: readonly Found[];
  readonly #start: number;

  /** `words[n]` are the words of reader n. */
  constructor(words: readonly (readonly string[])[]) {
    if (words.length > MOST_READERS) throw new Error(`more than ${MOST_READERS} readers`);
    const patterns = [
      ...words.flatMap((list, reader) => list.map((word) => ({ reader, ...bytesOf(word) }))),
      ...invisible.map((word) => ({ reader: null, ...bytesOf(word) })),
    ];
    this.#sort(patterns.flatMap(({ bytes }) => bytes));
    const trie = new Trie();
    for (const { reader, bytes, isAnchored } of patterns) {
      const kinds = bytes.map((byte) => this.#kindOf[byte] as number);
      const at = trie.add(isAnchored ? [START, ...kinds] : kinds);
      if (reader === null) at.isInvisible = true;
      else if (reader < 32) at.low |= 1 << reader;
      else at.high |= 1 << (reader - 32);
    }
    const { next, accepting, found } = trie.table(this.#kinds);
    this.#next = next;
    this.#accepting = accepting;
    this.#found = found;
    this.#start = next[START] as number;
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
      state = next[(state << ROW_BITS) | kind] as number;
      if (state >= accepting) this.#accept(state);
    }
    this.isAscii = all < ASCII;
    return at;
  }

  #accept(state: number): void {
    const found = this.#found[state - this.#accepting] as Found;
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
}

interface Node extends Found {
  readonly next: Map<number, Node>;
  fail: Node | null;
  row: number;
}

const newNode = (): Node => ({ low: 0, high: 0, isInvisible: false, next: new Map(), fail: null, row: 0 });
const accepts = ({ low, high, isInvisible }: Found): boolean => low !== 0 || high !== 0 || isInvisible;

/** The words while they are gathered. */
class Trie {
  readonly #root = newNode();

  /** The node at which the word ends. */
  add(kinds: readonly number[]): Node {
    let node = this.#root;
    for (const kind of kinds) {
      const next = node.next.get(kind) ?? newNode();
      node.next.set(kind, next);
      node = next;
    }
    return node;
  }

  /** The whole table: where the trie leaves off, it goes on as the longest match that is also an ending of what was read. */
  table(kinds: number): { next: Uint16Array; accepting: number; found: Found[] } {
    if (kinds > ROW) throw new Error(`more than ${ROW} kinds of bytes`);
    const nodes = this.#breadthFirst();
    const plain = nodes.filter((node) => !accepts(node));
    const accepting = nodes.filter(accepts);
    const rows = [...plain, ...accepting];
    if (rows.length > MOST_STATES) throw new Error(`more than ${MOST_STATES} states`);
    for (const [row, node] of rows.entries()) node.row = row;
    const next = new Uint16Array(rows.length << ROW_BITS);
    for (const { row, fail, next: onward } of nodes) {
      if (fail !== null) next.copyWithin(row << ROW_BITS, fail.row << ROW_BITS, (fail.row + 1) << ROW_BITS);
      for (const [kind, target] of onward) next[(row << ROW_BITS) | kind] = target.row;
    }
    return { next, accepting: plain.length, found: accepting };
  }

  /** Every node after those that are shorter, with its failure link, and with what that one finds. */
  #breadthFirst(): Node[] {
    const nodes = [this.#root];
    for (let read = 0; read < nodes.length; read += 1) {
      const node = nodes[read] as Node;
      for (const [kind, target] of node.next) {
        let fail = node.fail;
        while (fail !== null && !fail.next.has(kind)) fail = fail.fail;
        target.fail = fail?.next.get(kind) ?? this.#root;
        target.low |= target.fail.low;
        target.high |= target.fail.high;
        target.isInvisible ||= target.fail.isInvisible;
        nodes.push(target);
      }
    }
    return nodes;
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

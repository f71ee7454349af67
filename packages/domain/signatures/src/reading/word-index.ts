const MOST_READERS = 64;
const ROW_BITS = 8;
const ROW = 1 << ROW_BITS;
/** Stands before the text: no byte. */
const START = ROW;
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

/** Bytes that are no text; the last ones begin no character. */
const controls = [
  ...Array.from({ length: SPACE }, (_, byte) => byte).filter((byte) => ![TAB, LINE_FEED, RETURN].includes(byte)),
  ...[DELETE, 0xc0, 0xc1, ...Array.from({ length: 11 }, (_, at) => 0xf5 + at)],
];

/** What an accepting state says. */
interface Found {
  low: number;
  high: number;
  isInvisible: boolean;
  isEnd: boolean;
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
  /** Where to go from a state by a byte, the row of a state being `ROW` long. Accepting states are the last. */
  readonly #next: Uint16Array;
  readonly #accepting: number;
  /** Of each accepting state. */
  readonly #found: readonly Found[];
  readonly #start: number;

  /** `words[n]` are the words of reader n. */
  constructor(words: readonly (readonly string[])[]) {
    if (words.length > MOST_READERS) throw new Error(`more than ${MOST_READERS} readers`);
    const trie = new Trie();
    for (const [reader, list] of words.entries()) {
      for (const word of list) {
        const at = trie.add(bytesOf(word));
        if (reader < 32) at.low |= 1 << reader;
        else at.high |= 1 << (reader - 32);
      }
    }
    for (const word of invisible) trie.add([...Buffer.from(word)]).isInvisible = true;
    for (const byte of controls) trie.add([byte]).isInvisible = true;
    for (const byte of [LINE_FEED, RETURN]) trie.add([byte]).isEnd = true;
    const { next, accepting, found, start } = trie.table();
    this.#next = next;
    this.#accepting = accepting;
    this.#found = found;
    this.#start = start;
  }

  /**
   * Reads the line that begins at `from`, at most up to `to`. The answer is where it ends: at a line feed, a carriage return,
   * or `to`.
   */
  find(bytes: Uint8Array, from: number, to: number): number {
    const next = this.#next;
    const accepting = this.#accepting;
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
      state = next[(state << ROW_BITS) | byte] as number;
      if (state >= accepting && this.#accept(state)) break;
      all |= byte;
    }
    this.isAscii = all < ASCII;
    return at;
  }

  /** Whether the line ends there. */
  #accept(state: number): boolean {
    const found = this.#found[state - this.#accepting] as Found;
    this.low |= found.low;
    this.high |= found.high;
    if (found.isInvisible) this.hasControls = true;
    return found.isEnd;
  }
}

interface Node extends Found {
  readonly next: Map<number, Node>;
  fail: Node | null;
  row: number;
}

const nothing: Found = { low: 0, high: 0, isInvisible: false, isEnd: false };
const newNode = (): Node => ({ ...nothing, next: new Map(), fail: null, row: 0 });
const accepts = ({ low, high, isInvisible, isEnd }: Found): boolean => low !== 0 || high !== 0 || isInvisible || isEnd;

/** The words while they are gathered. */
class Trie {
  readonly #root = newNode();

  /** The node at which the word ends. */
  add(bytes: readonly number[]): Node {
    let node = this.#root;
    for (const byte of bytes) {
      const next = node.next.get(byte) ?? newNode();
      node.next.set(byte, next);
      node = next;
    }
    return node;
  }

  /** The whole table: where the trie leaves off, it goes on as the longest match that is also an ending of what was read. */
  table(): { next: Uint16Array; accepting: number; found: Found[]; start: number } {
    const nodes = this.#breadthFirst();
    const plain = nodes.filter((node) => !accepts(node));
    const accepting = nodes.filter(accepts);
    const rows = [...plain, ...accepting];
    if (rows.length > MOST_STATES) throw new Error(`more than ${MOST_STATES} states`);
    for (const [row, node] of rows.entries()) node.row = row;
    const next = new Uint16Array(rows.length << ROW_BITS);
    for (const { row, fail, next: onward } of nodes) {
      if (fail !== null) next.copyWithin(row << ROW_BITS, fail.row << ROW_BITS, (fail.row + 1) << ROW_BITS);
      for (const [byte, target] of onward) if (byte < ROW) next[(row << ROW_BITS) | byte] = target.row;
    }
    const start = this.#root.next.get(START) ?? this.#root;
    return { next, accepting: plain.length, found: accepting, start: start.row };
  }

  /** Every node after those that are shorter, with its failure link, and with what that one finds. */
  #breadthFirst(): Node[] {
    const nodes = [this.#root];
    for (let read = 0; read < nodes.length; read += 1) {
      const node = nodes[read] as Node;
      for (const [byte, target] of node.next) {
        let fail = node.fail;
        while (fail !== null && !fail.next.has(byte)) fail = fail.fail;
        target.fail = fail?.next.get(byte) ?? this.#root;
        target.low |= target.fail.low;
        target.high |= target.fail.high;
        target.isInvisible ||= target.fail.isInvisible;
        nodes.push(target);
      }
    }
    return nodes;
  }
}

function bytesOf(word: string): number[] {
  const isAnchored = word.startsWith('^');
  const bytes = [...Buffer.from(isAnchored ? word.slice(1) : word)];
  if (bytes.length < (isAnchored ? 1 : 2))
    throw new Error(`too short a word to wake a reader: ${JSON.stringify(word)}`);
  return isAnchored ? [START, ...bytes] : bytes;
}

import { hash64Lanes } from '@headway/kernel';

/**
 * A 64-bit hash as ten characters that JSON writes as they are, so that hundreds of them fit into a bounded state.
 * Hashes of one kind are kept in one text, see `memory.ts`.
 */
export type Fingerprint = string;

/** Characters of a fingerprint. */
export const WIDTH = 10;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const DIGITS = new Uint8Array(128);
for (let value = 0; value < ALPHABET.length; value += 1) DIGITS[ALPHABET.charCodeAt(value)] = value;
const BASE = ALPHABET.length;

/** Texts whose fingerprints are remembered between calls, twice this number at most; longer texts are computed anew. */
const REMEMBERED = 4_096;
const REMEMBERED_LENGTH = 256;
let young = new Map<string, Fingerprint>();
let old = new Map<string, Fingerprint>();

/** The fingerprint of a text. What it remembers only saves time: the same text always gives the same answer. */
export function fingerprint(text: string): Fingerprint {
  const known = young.get(text);
  if (known !== undefined) return known;
  const value = old.get(text) ?? fingerprintOnce(text);
  if (text.length > REMEMBERED_LENGTH) return value;
  if (young.size >= REMEMBERED) {
    old = young;
    young = new Map();
  }
  young.set(text, value);
  return value;
}

/** The same for a text that is not expected again: nothing of it is remembered. */
export function fingerprintOnce(text: string): Fingerprint {
  const [high, low] = hash64Lanes(text);
  return encode(high) + encode(low);
}

const CODES = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const codeAt = (lane: number, digit: number): number => CODES[Math.floor(lane / digit) % BASE] ?? 0;
const encode = (lane: number): string =>
  String.fromCharCode(
    codeAt(lane, BASE ** 4),
    codeAt(lane, BASE ** 3),
    codeAt(lane, BASE ** 2),
    codeAt(lane, BASE),
    codeAt(lane, 1),
  );

/** The two halves of a fingerprint as unsigned 32-bit numbers. */
export function lanes(value: Fingerprint): readonly [number, number] {
  return [decode(value, 0), decode(value, WIDTH / 2)];
}

function decode(text: string, from: number): number {
  let lane = 0;
  for (let at = from; at < from + WIDTH / 2; at += 1) lane = lane * BASE + (DIGITS[text.charCodeAt(at)] ?? 0);
  return lane;
}

/** Every byte in hex. */
const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));
const hexLane = (lane: number): string =>
  `${HEX[lane >>> 24]}${HEX[(lane >>> 16) & 255]}${HEX[(lane >>> 8) & 255]}${HEX[lane & 255]}`;
let shown: readonly [Fingerprint, string] = ['', ''];

/** A fingerprint as people see it: 16 hex digits, the first of the SHA-256 of the text. The last one is remembered. */
export function hexOf(value: Fingerprint): string {
  if (shown[0] === value) return shown[1];
  const [high, low] = lanes(value);
  const hex = hexLane(high) + hexLane(low);
  shown = [value, hex];
  return hex;
}

import { type Fingerprint, WIDTH } from './fingerprint.ts';

/**
 * Fingerprints seen, least recently seen first, in one text of fixed-width members: small as JSON and cheap to copy.
 */
export type Seen = string;

/** The index of a member, or -1. */
export function indexIn(seen: Seen, value: Fingerprint): number {
  let at = seen.indexOf(value);
  while (at !== -1 && at % WIDTH !== 0) at = seen.indexOf(value, at + 1);
  return at === -1 ? -1 : at / WIDTH;
}

export const isIn = (seen: Seen, value: Fingerprint): boolean => indexIn(seen, value) !== -1;

export const sizeOf = (seen: Seen): number => seen.length / WIDTH;

export const memberAt = (seen: Seen, index: number): Fingerprint => seen.slice(index * WIDTH, (index + 1) * WIDTH);

export const without = (seen: Seen, index: number): Seen =>
  seen.slice(0, index * WIDTH) + seen.slice((index + 1) * WIDTH);

/** With the value as the most recent member; the least recently seen one goes where there would be more than `most`. */
export function touched(seen: Seen, value: Fingerprint, most: number): Seen {
  if (seen.endsWith(value)) return seen;
  const index = indexIn(seen, value);
  if (index !== -1) return without(seen, index) + value;
  return (sizeOf(seen) >= most ? without(seen, 0) : seen) + value;
}

import { fingerprint, hexOf } from './fingerprint.ts';
import { remembered } from './state.ts';

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const bytesOf = (text: string): number =>
  PLAIN.test(text) ? text.length : Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * A text cut so that it takes at most `bytes` inside JSON, with `…` where something is missing. Control characters
 * become spaces.
 */
export function clipped(text: string, bytes: number): string {
  if (text.length <= bytes && PLAIN.test(text)) return text;
  const clean = text
    .slice(0, bytes)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed();
  if (text.length <= bytes && bytesOf(clean) <= bytes) return clean;
  let kept = '';
  let size = bytesOf('…');
  for (const char of clean) {
    size += bytesOf(char);
    if (size > bytes) break;
    kept += char;
  }
  return `${kept}…`;
}

/**
 * A name that still tells two names apart: as it is where it fits, else its beginning and 16 hex digits of its hash.
 * Names are compared in this form wherever a state holds them.
 */
export function shownName(name: string, bytes: number): string {
  if (bytesOf(name) <= bytes && !/\p{Cc}/u.test(name) && name.isWellFormed()) return name;
  return `${clipped(name, bytes - 17)}~${hexOf(fingerprint(name))}`;
}

/** A lane as states hold it: policies are looked up by this form. */
export const laneKey = (lane: string): string => shownName(lane, remembered.laneName);

import { hash } from 'node:crypto';

/** JSON with object keys sorted, members that are `undefined` left out: equal content gives equal text. For JSON values. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const member of value) text += `${text === '' ? '' : ','}${canonicalJson(member)}`;
    return `[${text}]`;
  }
  for (const key of sortedKeys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** Keys in the order of their UTF-16 code units, but those that are array indices first, by number, as objects have them. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  if (keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key)) return keys;
  const first = keys[0] ?? '';
  const numbered = first >= '0' && first < ':';
  keys.sort();
  return numbered ? Object.keys(Object.fromEntries(keys.map((key) => [key, null]))) : keys;
}

/**
 * SHA-256 over the parts, in lower-case hex. Each part is preceded by its length, so that no two different lists of
 * parts give the same bytes.
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  let whole = '';
  for (const part of parts) {
    if (part === null) whole += 'n:';
    else {
      const text = String(part);
      whole += `${Buffer.byteLength(text)}:${text}`;
    }
  }
  return hash('sha256', whole, 'hex');
}

/** The first 64 bits of the SHA-256 of a text, as 16 hex digits: for bounded memory of things seen. */
export function hash64(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/** The same 64 bits as two unsigned 32-bit numbers. */
export function hash64Lanes(text: string): readonly [high: number, low: number] {
  const bytes = hash('sha256', text, 'binary');
  return [laneAt(bytes, 0), laneAt(bytes, 4)];
}

const laneAt = (bytes: string, at: number): number =>
  ((bytes.charCodeAt(at) << 24) |
    (bytes.charCodeAt(at + 1) << 16) |
    (bytes.charCodeAt(at + 2) << 8) |
    bytes.charCodeAt(at + 3)) >>>
  0;

/** The SHA-256 of a text in UTF-8, in lower-case hex. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

import { createHash, hash } from 'node:crypto';

/** JSON with object keys sorted, members that are `undefined` left out: equal content gives equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member,
  );
}

/**
 * SHA-256 over the parts, in lower-case hex. Each part is preceded by its length, so that no two different lists of
 * parts give the same bytes.
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) {
    const text = part === null ? '' : String(part);
    sum.update(part === null ? 'n:' : `${Buffer.byteLength(text)}:`);
    sum.update(text);
  }
  return sum.digest('hex');
}

/** The first 64 bits of the SHA-256 of a text, as 16 hex digits: for bounded memory of things seen. */
export function hash64(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

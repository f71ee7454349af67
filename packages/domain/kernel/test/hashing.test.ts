import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, digest, hash64, hash64Lanes } from '../src/index.ts';

/** The same text in the plainest way: what is stored under it must never change. */
const plainCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member,
  );

function plainDigest(...parts: readonly (string | number | null)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) {
    const text = part === null ? '' : String(part);
    sum.update(part === null ? 'n:' : `${Buffer.byteLength(text)}:`);
    sum.update(text);
  }
  return sum.digest('hex');
}

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.constant('\ud800'));

describe('canonical JSON', () => {
  test('is the same text for any JSON value, whatever the order of its members', () => {
    const keys = fc.oneof(anyText, fc.nat(20).map(String), fc.constantFrom('__proto__', '01', '-1', '', '4294967295'));
    const { value: values } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        anyText,
        fc.double(),
        fc.constantFrom(null, true, false, -0, undefined),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.array(fc.tuple(keys, tie('value')), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
      ),
    }));
    fc.assert(
      fc.property(values, (value) => {
        if (value === undefined) return;
        expect(canonicalJson(value)).toBe(plainCanonicalJson(value));
      }),
      { numRuns: 2_000 },
    );
  });

  test('sorts members and leaves undefined ones out', () => {
    expect(canonicalJson({ b: [1, { d: 'x"', c: undefined }], a: null, 10: 1, 9: 2 })).toBe(
      '{"9":2,"10":1,"a":null,"b":[1,{"d":"x\\""}]}',
    );
  });
});

describe('digests', () => {
  const parts = fc.array(fc.oneof(anyText, fc.integer(), fc.constant(null)), { maxLength: 6 });

  test('are SHA-256 over each part behind its length in bytes', () => {
    fc.assert(
      fc.property(parts, (some) => {
        expect(digest(...some)).toBe(plainDigest(...some));
      }),
    );
  });

  test('of 64 bits are the same as text and as numbers', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(
          hash64Lanes(text)
            .map((lane) => lane.toString(16).padStart(8, '0'))
            .join(''),
        ).toBe(hash64(text));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import {
  CLAIMS_SOURCE,
  decodeToken,
  encodeToken,
  mayStandUnder,
  PARTITIONS,
  parseSubject,
  partitionOf,
  subjects,
} from '../src/index.ts';

describe('subjects', () => {
  it.each(['W-1', '', 'a.b', 'a b*>', 'ümläut/ß', '=', '=41', 'x'.repeat(200), '日本語'])(
    'carry %j there and back',
    (id) => {
      const token = encodeToken(id);
      expect(token).toMatch(/^[A-Za-z0-9_=-]+$/);
      expect(decodeToken(token)).toBe(id);
      expect(parseSubject(subjects.evidence('default', id))).toEqual({
        kind: 'evidence',
        partition: partitionOf('default', id),
        tenant: 'default',
        work: id,
      });
    },
  );

  it('never give two ids one token', () => {
    expect(new Set(['a.b', 'a=2Eb', 'a b', 'a/b', 'ab'].map(encodeToken)).size).toBe(5);
  });

  it('keep a work in its partition for ever', () => {
    // These numbers stand in logs that exist: a change moves histories between partitions.
    expect(['W-1', 'W-2', 'W-3'].map((work) => partitionOf('default', work))).toEqual([2, 11, 61]);
    expect(PARTITIONS).toBe(64);
  });

  it.each(['evidence.64.tick', 'evidence.x.t.w', 'evidence.1', 'record.trajectory.t', 'other.1.2', 'evidence.1.a.b.c'])(
    'say nothing where they are not ours: %s',
    (subject) => expect(parseSubject(subject)).toBeNull(),
  );

  it('of a claim belong to the work, and let nothing else stand there', () => {
    const meaning = parseSubject(subjects.claimed('t', 'W.1'));
    expect(meaning).toEqual({
      kind: 'evidence',
      partition: partitionOf('t', 'W.1'),
      tenant: 't',
      work: 'W.1',
      claimed: true,
    });
    if (meaning?.kind !== 'evidence') throw new Error('no evidence');
    expect(mayStandUnder(meaning, { type: 'headway.work.claimed', source: CLAIMS_SOURCE })).toBe(true);
    expect(mayStandUnder(meaning, { type: 'headway.work.claimed', source: 'ci' })).toBe(false);
    expect(mayStandUnder(meaning, { type: 'headway.gate.attempted', source: CLAIMS_SOURCE })).toBe(false);
    expect(mayStandUnder({}, { type: 'headway.gate.attempted', source: 'ci' })).toBe(true);
  });

  it('tell ticks and records apart', () => {
    expect(parseSubject(subjects.tick(7))).toEqual({ kind: 'tick', partition: 7 });
    expect(parseSubject(subjects.trajectory('t', 'w.1'))).toEqual({ kind: 'trajectory', tenant: 't', work: 'w.1' });
    expect(parseSubject(subjects.signals('t'))).toEqual({ kind: 'signals', tenant: 't' });
    expect(parseSubject(subjects.gap('evidence'))).toEqual({ kind: 'gap' });
    expect(parseSubject(subjects.gap('record'))).toEqual({ kind: 'gap' });
    expect(parseSubject(subjects.position('signaller'))).toEqual({ kind: 'position', reader: 'signaller' });
  });
});

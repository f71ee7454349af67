import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contentDigest, evidenceTypes, identityKey, readEvent } from '../src/index.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/evidence.v1.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>[];
const attempt = golden[1] as Record<string, unknown> & { data: Record<string, unknown> };

describe('the boundary where a report becomes evidence', () => {
  it('has a golden sample of every type of version 1, and reads each as it stands', () => {
    expect(new Set(golden.map((event) => event.type))).toEqual(new Set(evidenceTypes));
    for (const event of golden) expect(readEvent(event)).toEqual({ ok: true, value: event });
  });

  it('fills in the stage and keeps members of data that it does not know', () => {
    const read = readEvent({ ...attempt, data: { gate: 'test', outcome: 'passed', newer: { x: 1 } } });
    expect(read).toMatchObject({ ok: true, value: { data: { stage: 'bare', newer: { x: 1 } } } });
  });

  it.each([
    ['no object', [1], 'invalid_event', undefined],
    ['no type', { ...attempt, type: undefined }, 'invalid_event', '/type'],
    ['an unknown type', { ...attempt, type: 'headway.gate.tried' }, 'unknown_type', '/type'],
    ['a type that only Headway writes', { ...attempt, type: 'headway.monitor.ticked' }, 'reserved_type', '/type'],
    ['a refusal that was made up', { ...attempt, type: 'headway.evidence.refused' }, 'reserved_type', '/type'],
    ['no work', { ...attempt, subject: undefined }, 'missing_subject', '/subject'],
    ['a work with a long id', { ...attempt, subject: 'x'.repeat(201) }, 'invalid_event', '/subject'],
    ['another version of CloudEvents', { ...attempt, specversion: '0.3' }, 'invalid_event', '/specversion'],
    [
      'an outcome that is none',
      { ...attempt, data: { ...attempt.data, outcome: 'ok' } },
      'invalid_event',
      '/data/outcome',
    ],
    ['a negative incarnation', { ...attempt, incarnation: -1 }, 'invalid_event', '/incarnation'],
    ['a time that is none', { ...attempt, time: 'yesterday' }, 'invalid_event', '/time'],
  ])('refuses %s and points at it', (_name, event, code, pointer) => {
    const read = readEvent(event);
    expect(read).toMatchObject({ ok: false, failure: pointer === undefined ? { code } : { code, pointer } });
  });

  it('refuses deep nesting without going down into it', () => {
    let nested: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) nested = [nested];
    expect(readEvent({ ...attempt, data: { ...attempt.data, nested } })).toMatchObject({
      failure: { code: 'too_deep' },
    });
  });
});

describe('identity and content', () => {
  it('is of the tenant, the source and the id, without confusing where one ends', () => {
    const keys = [
      identityKey('t', { source: 'a', id: 'bc' }),
      identityKey('t', { source: 'ab', id: 'c' }),
      identityKey('u', { source: 'a', id: 'bc' }),
    ];
    expect(new Set(keys).size).toBe(3);
  });

  it('takes the order of members as no difference, and every value as one', () => {
    const content = contentDigest(attempt as never);
    expect(
      contentDigest({ ...attempt, data: Object.fromEntries(Object.entries(attempt.data).reverse()) } as never),
    ).toBe(content);
    expect(contentDigest({ ...attempt, traceparent: '00-1-2-01' } as never)).toBe(content);
    expect(contentDigest({ ...attempt, time: '2026-01-02T00:00:00Z' } as never)).not.toBe(content);
    expect(contentDigest({ ...attempt, subject: 'W-2' } as never)).not.toBe(content);
  });
});

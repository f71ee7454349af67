import { describe, expect, test } from 'vitest';
import { createClassification } from '../src/index.ts';
import { claimed, failed, passed, ticked } from './facts.ts';

const whole = (id: string, data: object = {}, subject = 'W-1') => ({
  specversion: '1.0',
  source: 's',
  id,
  subject,
  type: 'headway.gate.attempted',
  data: { gate: 'test', outcome: 'failed', failures: [{ key: 't1' }], diff: { hash: 'A' }, ...data },
});

describe('what becomes of a pushed event', () => {
  test('accepted, duplicate whatever the order of members, conflict, malformed', () => {
    const pipeline = createClassification();
    expect(pipeline.push(whole('1'))).toEqual({ kind: 'accepted', works: ['W-1'] });
    expect(pipeline.push(Object.fromEntries(Object.entries(whole('1')).reverse()))).toEqual({ kind: 'duplicate' });
    expect(pipeline.push(whole('1', { outcome: 'passed' }))).toEqual({ kind: 'conflict', works: ['W-1'] });
    expect(pipeline.line('W-1')).toMatchObject({ class: 'unknown', rule: 'conflict' });
    for (const raw of [
      null,
      7,
      [],
      {},
      { ...whole('2'), type: 'x' },
      { ...whole('3'), data: {} },
      { ...whole('4'), subject: undefined },
    ])
      expect(pipeline.push(raw)).toMatchObject({ kind: 'malformed', problem: { detail: expect.any(String) } });
    expect(pipeline.summary().summary.events).toBe(3);
  });

  test('a malformed report takes no identity', () => {
    const pipeline = createClassification();
    pipeline.push({ ...whole('1'), data: {} });
    expect(pipeline.push(whole('1')).kind).toBe('accepted');
  });

  test('identities beyond the limit are forgotten, the oldest first', () => {
    const pipeline = createClassification({ identities: 2 });
    for (const id of ['1', '2', '3', '4', '5']) pipeline.push(whole(id));
    expect(pipeline.push(whole('5')).kind).toBe('duplicate');
    expect(pipeline.push(whole('3')).kind).toBe('duplicate');
    expect(pipeline.push(whole('1')).kind).toBe('accepted');
  });

  test('a log as it stands is read too: ticks, and refusals that were recorded', () => {
    const pipeline = createClassification();
    pipeline.push(whole('1', { outcome: 'passed', stage: 'prep' }));
    const tick = (id: string) => ({ specversion: '1.0', source: 'monitor', id, type: 'headway.monitor.ticked' });
    pipeline.push(tick('1'));
    pipeline.push(tick('1'));
    expect(pipeline.line('W-1')).toMatchObject({ class: 'awaiting-wake', signal: null });
    pipeline.push(tick('2'));
    expect(pipeline.line('W-1')).toMatchObject({ class: 'awaiting-wake', signal: 'open' });
    const refusal = {
      specversion: '1.0',
      source: 'headway.ingest',
      id: 'r',
      subject: 'W-1',
      type: 'headway.evidence.refused',
      data: {},
    };
    expect(pipeline.push(refusal).kind).toBe('accepted');
    expect(pipeline.line('W-1').rule).toBe('conflict');
  });
});

describe('lines', () => {
  test('one for each work, one for each open shared failure, and the counts over all', () => {
    const pipeline = createClassification();
    const tell = (subject: string, ...facts: object[]) => {
      for (const fact of facts) pipeline.push({ ...fact, subject });
    };
    tell('B', claimed(), failed('down', 'x'));
    tell(
      'A',
      claimed(),
      failed('down', 'y'),
      failed('t', 'z', { gate: 'lint' }),
      failed('t', 'z', { gate: 'lint' }),
      failed('t', 'z', { gate: 'lint' }),
    );
    tell('C', claimed(), passed('A'));
    expect(pipeline.works().map(({ work, class: name, signal }) => [work, name, signal])).toEqual([
      ['B', 'slow', null],
      ['A', 'stagnating', 'open'],
      ['C', 'productive', null],
    ]);
    expect(pipeline.shared()).toEqual([
      { shared: { gate: 'test', signature: expect.stringMatching(/^[0-9a-f]{64}$/), works: ['A', 'B'] } },
    ]);
    expect(pipeline.summary()).toEqual({
      summary: { events: 9, signals: 2, open: 2, acknowledged: 0, withdrawn: 0, superseded: 0 },
    });
  });

  test('a tick touches only works in a pause', () => {
    const pipeline = createClassification();
    pipeline.push({ ...passed('A', { stage: 'prep' }), subject: 'paused' });
    pipeline.push({ ...failed('t1', 'A'), subject: 'busy' });
    const push = () => pipeline.push(ticked(), { defaults: true });
    expect(push()).toEqual({ kind: 'accepted', works: ['paused'] });
    push();
    expect(push()).toEqual({ kind: 'accepted', works: [] });
  });
});

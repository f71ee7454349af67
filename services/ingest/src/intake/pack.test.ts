import { type EvidenceCommit, type EvidenceEvent, encodeRecord, limits, subjects } from '@headway/contracts';
import { describe, expect, it } from 'vitest';
import { type Entry, pack } from './pack.ts';

const entry = (work: string, id: string, note = 'é'): Entry => ({
  work,
  key: `key ${id}`,
  content: `content ${id}`.padEnd(64, '.'),
  event: {
    specversion: '1.0',
    id,
    source: 's',
    subject: work,
    type: 'headway.checkpoint.recorded',
    data: { by: 'worker', note },
  } as EvidenceEvent,
});
const decode = (payload: Uint8Array) => JSON.parse(Buffer.from(payload).toString('utf8')) as EvidenceCommit;

describe('packing', () => {
  it('puts the events of each work together, in their order', () => {
    const entries = [entry('A', '1'), entry('B', '2'), entry('A', '3'), entry('B', '4')];
    const works = pack('default', entries);
    expect(works.map((commits) => commits.map(({ subject }) => subject))).toEqual([
      [subjects.evidence('default', 'A')],
      [subjects.evidence('default', 'B')],
    ]);
    expect(
      works.map(([commit]) => decode((commit as { payload: Uint8Array }).payload).events.map(({ id }) => id)),
    ).toEqual([
      ['1', '3'],
      ['2', '4'],
    ]);
  });

  it('writes what the contract says', () => {
    const entries = [entry('A', '1'), entry('A', '2')];
    const commit = {
      v: 1,
      events: entries.map(({ event }) => event),
      contents: entries.map(({ content }) => content),
    } as const;
    expect(Buffer.from(pack('default', entries)[0]?.[0]?.payload as Uint8Array)).toEqual(
      Buffer.from(encodeRecord(commit)),
    );
  });

  it('never goes beyond the limits of one commit', () => {
    const many =
      pack(
        'default',
        Array.from({ length: 600 }, (_, index) => entry('A', String(index))),
      )[0] ?? [];
    expect(many.map(({ entries }) => entries.length)).toEqual([256, 256, 88]);
    const large =
      pack(
        'default',
        Array.from({ length: 10 }, (_, index) => entry('A', String(index), 'é'.repeat(100_000))),
      )[0] ?? [];
    expect(large.map(({ entries }) => entries.length)).toEqual([4, 4, 2]);
    for (const { payload } of large) expect(payload.length).toBeLessThanOrEqual(limits.commitBytes);
    expect(large.flatMap(({ entries }) => entries.map(({ event }) => event.id))).toEqual('0123456789'.split(''));
  });

  it('gives the same grouping the same message id, and another one another', () => {
    const id = (...entries: Entry[]) => pack('default', entries)[0]?.[0]?.messageId;
    expect(id(entry('A', '1'), entry('A', '2'))).toBe(id(entry('A', '1'), entry('A', '2')));
    const others = [
      id(entry('A', '1')),
      id(entry('A', '2')),
      id(entry('A', '1'), entry('A', '2')),
      id(entry('A', '2'), entry('A', '1')),
      id({ ...entry('A', '1'), content: 'other' }),
    ];
    expect(new Set(others).size).toBe(others.length);
  });
});

import { describe, expect, it } from 'vitest';
import { GuardedStreams } from '../src/jetstream/guarded-streams.ts';
import type { StreamDescription } from '../src/log.ts';

const as = (stream: StreamDescription['stream'], lastSequence: number, more: Partial<StreamDescription> = {}) =>
  ({
    stream,
    generation: 1,
    created: '2026-01-01T00:00:00Z',
    firstSequence: 1,
    lastSequence,
    ...more,
  }) as StreamDescription;

const after = (...told: readonly StreamDescription[]) => {
  const guarded = new GuardedStreams();
  for (const one of told) guarded.described(one, guarded.lastSeen(one.stream));
  return guarded;
};

describe.each(['EVIDENCE', 'RECORD'] as const)('%s set back', (stream) => {
  it('is a loss until it is put back as far as it was seen', () => {
    const guarded = after(as(stream, 10), as(stream, 4));
    expect(guarded.losses()).toMatchObject([{ stream, generation: 1, seen: 10 }]);
    guarded.described(as(stream, 10, { restoring: true }), 10);
    expect(guarded.lossOf(stream)).not.toBeNull();
    guarded.described(as(stream, 10), 10);
    expect(guarded.losses()).toEqual([]);
  });

  it('is a loss where it was made anew, until its generation says so', () => {
    const guarded = after(as(stream, 10), as(stream, 10, { created: '2026-02-02T00:00:00Z' }));
    expect(guarded.lossOf(stream)).not.toBeNull();
    guarded.described(as(stream, 10, { created: '2026-02-02T00:00:00Z', generation: 2 }), 10);
    expect(guarded.lossOf(stream)).toBeNull();
  });

  it('shows by an acknowledgement far behind what was seen', () => {
    const guarded = after(as(stream, 100_000));
    expect(guarded.acknowledged(stream, 99_990)).toBe(true);
    expect(guarded.acknowledged(stream, 5)).toBe(false);
    expect(guarded.lossOf(stream)).not.toBeNull();
  });
});

it.each(['FEED', 'EFFECTS'] as const)('%s set back bars nobody: no restore would ever lift that', (stream) => {
  expect(after(as(stream, 10), as(stream, 4)).losses()).toEqual([]);
});

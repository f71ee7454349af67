import { encodeRecord, type SignalEvent, subjects } from '@headway/contracts';
import { createMemoryLog, type EventLog, type LogMessage, type NewMessage } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { announce } from '../src/feed.ts';
import { createPoisoned } from '../src/poisoned.ts';
import { silent } from './fleet.ts';

const said = (sequence: number, tenant: string, events: readonly SignalEvent[]): LogMessage => ({
  stream: 'RECORD',
  generation: 1,
  sequence,
  subject: subjects.signals(tenant),
  headers: {},
  payload: encodeRecord({ v: 1, covered: sequence, events, state: null }),
  recordedAt: 0,
});

const raised = (id: string, work: string): SignalEvent => ({
  type: 'headway.signal.raised',
  id,
  data: {
    signal: id,
    kind: 'stagnating',
    works: [work],
    incarnation: 0,
    rule: 'same-failure',
    gate: 'test',
    signature: null,
    diff: null,
    count: 3,
    ordinal: 1,
    to: [],
    reason: '',
  },
});

const acknowledged = (id: string, works: readonly string[]): SignalEvent => ({
  type: 'headway.signal.acknowledged',
  id,
  data: {
    signal: 's',
    kind: 'shared-failure',
    works,
    intent: 'AGREE',
    from: 'lead',
    incarnations: works.map((_, index) => index),
  },
});

/** Nothing is held and nothing was dropped. */
const noneOn = (log: EventLog, dropped: readonly string[] = []) =>
  createPoisoned({
    reader: 'feed',
    log,
    logger: silent,
    acts: { dropped: new Set(dropped), knownUpTo: () => 0 },
  });

it('keeps the order of what is announced of one work, also where the log is slow to take the first', async () => {
  const first = Promise.withResolvers<void>();
  const calls: (string | undefined)[] = [];
  const log = createMemoryLog();
  const slow: EventLog = {
    ...log,
    append: async (message: NewMessage) => {
      calls.push(message.messageId);
      if (message.messageId === 'a1') await first.promise;
      return log.append(message);
    },
  };
  const announcing = announce(
    slow,
    [said(1, 't', [raised('a1', 'A'), raised('b1', 'B')]), said(2, 't', [acknowledged('a2', ['A'])])],
    noneOn(log),
  );
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual(['a1', 'b1']);
  first.resolve();
  await announcing;
  expect(calls).toEqual(['a1', 'b1', 'a2']);
});

it('tells each member of an acknowledged shared failure of itself: what is sent grows with the members, not their square', async () => {
  const works = Array.from({ length: 2_000 }, (_, index) => `W-${index}`);
  const log = createMemoryLog();
  await announce(log, [said(1, 't', [acknowledged('a', works)])], noneOn(log));
  const message = await log.at('FEED', 7);
  const { data } = JSON.parse(Buffer.from(message?.payload ?? []).toString());
  expect(data).toMatchObject({ signal: 's', works: ['W-6'], incarnations: [6], intent: 'AGREE' });
});

it('announces members of any name, each under an id of its own', async () => {
  const log = createMemoryLog();
  await announce(
    log,
    [said(1, 't', [acknowledged('a', ['two\nlines', 'ends with a blank ', 'größe', 'plain'])])],
    noneOn(log),
  );
  const ids: string[] = [];
  for (let sequence = 1; sequence <= 4; sequence += 1) {
    const message = await log.at('FEED', sequence);
    const event = JSON.parse(Buffer.from(message?.payload ?? []).toString());
    expect(event.id).toBe(message?.messageId);
    ids.push(event.id);
  }
  expect(new Set(ids).size).toBe(4);
});

it('passes by what it cannot unpack and what follows it of the same tenant, and announces all others', async () => {
  const log = createMemoryLog();
  const poisoned = noneOn(log);
  const nonsense = { ...said(5, 'broken', []), payload: Buffer.from('nonsense') };
  await announce(log, [said(4, 't', [raised('a1', 'A')]), nonsense, said(6, 'broken', [raised('b1', 'B')])], poisoned);
  await announce(log, [said(7, 'u', [raised('c1', 'C')])], poisoned);
  expect([(await log.at('FEED', 1))?.messageId, (await log.at('FEED', 2))?.messageId]).toEqual(['a1', 'c1']);
  expect(await log.at('FEED', 3)).toBeNull();
  // Where it starts again nothing is lost, and a dead letter tells of it.
  expect(poisoned.before(7)).toBe(4);
  const letter = await log.last('RECORD', subjects.deadLetter('broken', ''));
  expect(Buffer.from(letter?.payload ?? []).toString()).toContain('is not valid JSON');

  // Dropped by an operator: what waited behind it is announced.
  await announce(log, [nonsense, said(6, 'broken', [raised('b1', 'B')])], noneOn(log, ['feed-RECORD-1-5']));
  expect((await log.at('FEED', 3))?.messageId).toBe('b1');
});

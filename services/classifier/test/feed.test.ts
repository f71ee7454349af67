import { encodeRecord, type SignalEvent, subjects } from '@headway/contracts';
import { createMemoryLog, type EventLog, type LogMessage, type NewMessage } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { announce } from '../src/feed.ts';

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
  const announcing = announce(slow, [
    said(1, 't', [raised('a1', 'A'), raised('b1', 'B')]),
    said(2, 't', [acknowledged('a2', ['A'])]),
  ]);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual(['a1', 'b1']);
  first.resolve();
  await announcing;
  expect(calls).toEqual(['a1', 'b1', 'a2']);
});

it('tells each member of an acknowledged shared failure of itself: what is sent grows with the members, not their square', async () => {
  const works = Array.from({ length: 2_000 }, (_, index) => `W-${index}`);
  const log = createMemoryLog();
  await announce(log, [said(1, 't', [acknowledged('a', works)])]);
  const message = await log.at('FEED', 7);
  const { data } = JSON.parse(Buffer.from(message?.payload ?? []).toString());
  expect(data).toMatchObject({ signal: 's', works: ['W-6'], incarnations: [6], intent: 'AGREE' });
});

it('announces members of any name, each under an id of its own', async () => {
  const log = createMemoryLog();
  await announce(log, [said(1, 't', [acknowledged('a', ['two\nlines', 'ends with a blank ', 'größe', 'plain'])])]);
  const ids: string[] = [];
  for (let sequence = 1; sequence <= 4; sequence += 1) {
    const message = await log.at('FEED', sequence);
    const event = JSON.parse(Buffer.from(message?.payload ?? []).toString());
    expect(event.id).toBe(message?.messageId);
    ids.push(event.id);
  }
  expect(new Set(ids).size).toBe(4);
});

import { randomUUID } from 'node:crypto';
import { STREAMS, type StreamName, subjects } from '@headway/contracts';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from './collected-reader.ts';
import { withFaults } from './faults.ts';
import { type EventLog, type LogMessage, MAX_PAYLOAD_BYTES, StreamRecreated } from './log.ts';

export { collect } from './collected-reader.ts';

export interface LogHarness {
  /** One more connection to the same streams. The suite closes it. */
  connect(): Promise<EventLog>;
  /** Deletes the stream and makes it anew. */
  recreate(stream: StreamName): Promise<void>;
  stop(): Promise<void>;
}

const text = (payload: Uint8Array) => Buffer.from(payload).toString('utf8');
const bytes = (content: string) => Buffer.from(content, 'utf8');

/** What every log promises, whatever it stands on. */
export function describeEventLog(name: string, start: () => Promise<LogHarness>): void {
  describe(name, () => {
    let harness: LogHarness;
    let log: EventLog;
    let other: EventLog;
    beforeAll(async () => {
      harness = await start();
      [log, other] = await Promise.all([harness.connect(), harness.connect()]);
    });
    afterAll(async () => {
      await log?.close();
      await other?.close();
      await harness?.stop();
    });

    const fresh = () => `w-${randomUUID()}`;
    const trajectory = (work = fresh()) => subjects.trajectory('t', work);
    const appendTexts = async (subject: string, texts: readonly string[]) => {
      const sequences: number[] = [];
      for (const each of texts) {
        const done = await log.append({ subject, payload: bytes(each) });
        if (done.outcome !== 'appended') throw new Error(`append was ${done.outcome}`);
        sequences.push(done.position.sequence);
      }
      return sequences;
    };
    const end = async () => (await log.describe(STREAMS.record)).lastSequence;

    it('numbers appends one after the other and gives back all that was written', async () => {
      const before = await log.describe(STREAMS.record);
      const subject = trajectory();
      const payload = Uint8Array.from({ length: 256 }, (_, at) => at);
      const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', note: 'ä ö: ü' };
      const messageId = randomUUID();
      const appended = await log.append({ subject, payload, headers, messageId, expectedLastSequence: 0 });
      const sequence = before.lastSequence + 1;
      const { generation } = before;
      expect(appended).toEqual({ outcome: 'appended', position: { stream: 'RECORD', generation, sequence } });
      const stored = await log.at(STREAMS.record, sequence);
      expect(stored).toMatchObject({ stream: 'RECORD', generation, sequence, subject, headers, messageId });
      expect([...(stored?.payload ?? [])]).toEqual([...payload]);
      expect(Object.keys(stored?.headers ?? {})).toHaveLength(2);
      expect(stored?.recordedAt).toBeGreaterThan(1_600_000_000_000);
      expect(await log.last(STREAMS.record, subject)).toEqual(stored);
      expect((await log.describe(STREAMS.record)).lastSequence).toBe(sequence);
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: 0 });
      await eventually(() => reader.messages.length === 1);
      expect({ ...reader.messages[0], payload: [...(reader.messages[0]?.payload ?? [])] }).toEqual({
        ...stored,
        payload: [...payload],
      });
      await reader.stop();
    });

    it('tells of what is not there with null', async () => {
      expect(await log.last(STREAMS.record, trajectory())).toBeNull();
      expect(await log.at(STREAMS.record, (await end()) + 1)).toBeNull();
      expect(await log.at(STREAMS.record, 0)).toBeNull();
    });

    it('lets exactly one of two writers win each round, and keeps nothing of the loser', async () => {
      const subject = trajectory();
      const writers = [log, other];
      const wins = [0, 0];
      let expected = 0;
      for (let round = 0; round < 60; round += 1) {
        const outcomes = await Promise.all(
          writers.map((writer, index) =>
            writer.append({
              subject,
              payload: bytes(`${round}/${index}`),
              messageId: randomUUID(),
              expectedLastSequence: expected,
            }),
          ),
        );
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['appended', 'conflict']);
        const winner = outcomes.findIndex(({ outcome }) => outcome === 'appended');
        wins[winner] = (wins[winner] ?? 0) + 1;
        const won = outcomes[winner];
        if (won?.outcome === 'appended') expected = won.position.sequence;
        const last = await log.last(STREAMS.record, subject);
        expect([last?.sequence, text(last?.payload ?? bytes(''))]).toEqual([expected, `${round}/${winner}`]);
      }
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: 0 });
      await eventually(() => reader.timesCaughtUp() > 0);
      expect(reader.messages).toHaveLength(60);
      await reader.stop();
    });

    it('refuses a wrong expected sequence in both directions', async () => {
      const subject = trajectory();
      const [sequence = 0] = await appendTexts(subject, ['one']);
      for (const expectedLastSequence of [0, sequence - 1, sequence + 1])
        expect(await log.append({ subject, payload: bytes('two'), expectedLastSequence })).toMatchObject({
          outcome: 'conflict',
        });
      expect(text((await log.last(STREAMS.record, subject))?.payload ?? bytes(''))).toBe('one');
      const right = await log.append({ subject, payload: bytes('two'), expectedLastSequence: sequence });
      expect(right.outcome).toBe('appended');
    });

    it('stores a message id once, answers with where it stands, not as a conflict with itself', async () => {
      const subject = trajectory();
      const message = { subject, payload: bytes('once'), messageId: randomUUID(), expectedLastSequence: 0 };
      const first = await log.append(message);
      const again = await other.append(message);
      expect(first.outcome).toBe('appended');
      expect(again).toEqual({ ...first, outcome: 'duplicate' });
      await log.append({ subject, payload: bytes('after it'), messageId: randomUUID() });
      expect(await other.append(message)).toEqual({ ...first, outcome: 'duplicate' });
      expect(await log.append({ ...message, messageId: randomUUID() })).toMatchObject({ outcome: 'conflict' });
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: 0 });
      await eventually(() => reader.timesCaughtUp() > 0);
      expect(reader.texts()).toEqual(['once', 'after it']);
      await reader.stop();
    });

    it('tells by the same id what became of an append that was answered unavailable', async () => {
      for (const fault of ['answer-lost', 'message-lost'] as const) {
        const faulty = withFaults(log, { append: (_message, number) => (number === 1 ? fault : null) });
        const subject = trajectory();
        const message = { subject, payload: bytes(fault), messageId: randomUUID(), expectedLastSequence: 0 };
        expect(await faulty.append(message)).toMatchObject({ outcome: 'unavailable' });
        const told = await faulty.append(message);
        expect(told.outcome).toBe(fault === 'answer-lost' ? 'duplicate' : 'appended');
        expect(told).toHaveProperty('position.sequence', (await log.last(STREAMS.record, subject))?.sequence);
      }
    });

    it('takes many appends at once, each once', async () => {
      const subject = trajectory();
      const outcomes = await Promise.all(
        Array.from({ length: 3_000 }, (_, at) =>
          (at % 2 === 0 ? log : other).append({ subject, payload: bytes(`${at}`) }),
        ),
      );
      const sequences = outcomes.map((done) => (done.outcome === 'appended' ? done.position.sequence : 0));
      expect(new Set(sequences).size).toBe(3_000);
      expect(sequences).not.toContain(0);
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: 0, batch: 1_000 });
      await eventually(() => reader.messages.length >= 3_000);
      const place = new Map(sequences.map((sequence, at) => [sequence, `${at}`]));
      expect(reader.texts()).toEqual(reader.messages.map(({ sequence }) => place.get(sequence)));
      expect(reader.messages.map(({ sequence }) => sequence)).toEqual([...sequences].sort((a, b) => a - b));
      await reader.stop();
    });

    it('carries the largest payload, and refuses a larger one', async () => {
      const subject = trajectory();
      const payload = new Uint8Array(MAX_PAYLOAD_BYTES);
      for (let at = 0; at < payload.length; at += 1) payload[at] = (at * 31) % 251;
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: await end() });
      for (let number = 1; number <= 40; number += 1)
        expect(await log.append({ subject, payload })).toMatchObject({ outcome: 'appended' });
      await eventually(() => reader.messages.length === 40, { within: 30_000 });
      for (const message of reader.messages) expect(Buffer.compare(message.payload, payload)).toBe(0);
      await reader.stop();
      const tooLarge = async () => log.append({ subject, payload: new Uint8Array(MAX_PAYLOAD_BYTES + 1) });
      await expect(tooLarge()).rejects.toThrow(RangeError);
    });

    it('reads from the middle, then what comes, and tells when it has caught up', async () => {
      const subject = trajectory();
      const sequences = await appendTexts(subject, ['a', 'b', 'c', 'd', 'e']);
      const reader = collect(log, { stream: STREAMS.record, filters: [subject], after: sequences[1] ?? 0, batch: 2 });
      await eventually(() => reader.timesCaughtUp() === 1);
      expect(reader.texts()).toEqual(['c', 'd', 'e']);
      expect(Math.max(...reader.batches)).toBe(2);
      await appendTexts(subject, ['f', 'g']);
      await eventually(() => reader.messages.length === 5);
      expect(reader.texts()).toEqual(['c', 'd', 'e', 'f', 'g']);
      await eventually(() => reader.timesCaughtUp() >= 2);
      await reader.stop();
    });

    it('tells at once, with an empty batch, that nothing is waiting', async () => {
      const reader = collect(log, { stream: STREAMS.record, filters: [trajectory()], after: await end() });
      await eventually(() => reader.timesCaughtUp() === 1);
      expect(reader.messages).toEqual([]);
      await reader.stop();
    });

    it('merges several filters in the order of the stream, each message once', async () => {
      const [one, two, three] = [fresh(), fresh(), fresh()];
      const after = await end();
      for (const [work, content] of [
        [one, '1'],
        [two, '2'],
        [three, 'x'],
        [two, '3'],
        [one, '4'],
        [three, 'x'],
      ] as const)
        await appendTexts(trajectory(work), [content]);
      await appendTexts(subjects.signals(one), ['5']);
      const filters = [trajectory(one), trajectory(two), `record.trajectory.*.${one}`, 'record.signals.>'];
      const reader = collect(log, { stream: STREAMS.record, filters, after });
      await eventually(() => reader.messages.length >= 5);
      await appendTexts(trajectory(three), ['x']);
      await appendTexts(trajectory(two), ['6']);
      await eventually(() => reader.messages.length >= 6);
      expect(reader.texts()).toEqual(['1', '2', '3', '4', '5', '6']);
      await reader.stop();
    });

    it('gives the newest message of each subject, in order, and ends', async () => {
      const tenant = fresh();
      const works = Array.from({ length: 2_500 }, (_, at) => `w${at}`);
      for (const round of ['old', 'new'])
        await Promise.all(
          works.map((work) =>
            log.append({ subject: subjects.trajectory(tenant, work), payload: bytes(`${round} ${work}`) }),
          ),
        );
      await appendTexts(subjects.trajectory(tenant, 'w7'), ['newest w7']);
      const found: LogMessage[] = [];
      for await (const batch of log.newestOfEach(STREAMS.record, `record.trajectory.${tenant}.*`)) found.push(...batch);
      expect(found.map(({ payload }) => text(payload)).sort()).toEqual(
        works.map((work) => `${work === 'w7' ? 'newest' : 'new'} ${work}`).sort(),
      );
      const sequences = found.map(({ sequence }) => sequence);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
      for await (const batch of log.newestOfEach(STREAMS.record, `record.trajectory.${fresh()}.*`))
        expect(batch).toEqual([]);
    });

    it('ends a reader when it is told to, in the middle of many messages too', async () => {
      const subject = trajectory();
      await Promise.all(Array.from({ length: 500 }, () => log.append({ subject, payload: bytes('x') })));
      const stopping = new AbortController();
      let batches = 0;
      const options = { stream: STREAMS.record, filters: [subject], after: 0, batch: 10, signal: stopping.signal };
      for await (const { messages } of log.read(options)) {
        expect(messages.length).toBeLessThanOrEqual(10);
        batches++;
        if (batches === 2) stopping.abort();
      }
      expect(batches).toBe(2);
      for await (const batch of log.read(options)) expect.fail(`gave ${batch.messages.length} after the abort`);
    });

    it('refuses what no log could keep, before it is sent', async () => {
      const send = async (message: object) =>
        log.append({ subject: trajectory(), payload: bytes('x'), ...message } as never);
      for (const wrong of [
        { subject: 'elsewhere.t.w' },
        { subject: 'record' },
        { subject: 'record.trajectory..w' },
        { subject: 'record.trajectory.*.w' },
        { subject: 'record.two words' },
        { headers: { 'Nats-Msg-Id': 'x' } },
        { headers: { note: 'two\r\nlines' } },
        { headers: { 'a b': 'x' } },
        { messageId: '' },
        { expectedLastSequence: -1 },
      ])
        await expect(send(wrong), JSON.stringify(wrong)).rejects.toThrow(RangeError);
      const read = async (options: object) => {
        const signal = AbortSignal.timeout(5_000);
        for await (const _ of log.read({
          stream: STREAMS.record,
          filters: ['record.>'],
          after: 0,
          batch: 1,
          signal,
          ...options,
        }))
          return;
      };
      for (const wrong of [
        { filters: [] },
        { filters: ['evidence.>'] },
        { filters: ['record.>.x'] },
        { batch: 0 },
        { after: -1 },
      ])
        await expect(read(wrong), JSON.stringify(wrong)).rejects.toThrow(RangeError);
    });

    it('throws to a reader whose stream was made anew, and to one that stands behind its end', async () => {
      const subject = subjects.feed.assessment('t', fresh());
      await appendTexts(subject, ['1', '2', '3']);
      const filters = ['trajectory.>'];
      const reader = collect(log, { stream: STREAMS.feed, filters, after: 0 });
      await eventually(() => reader.messages.length === 3);
      const created = (await log.describe(STREAMS.feed)).created;
      await harness.recreate(STREAMS.feed);
      await expect(reader.ended).rejects.toThrow(StreamRecreated);
      const now = await log.describe(STREAMS.feed);
      expect(now).toMatchObject({ firstSequence: 0, lastSequence: 0 });
      expect(now.created).not.toBe(created);
      await expect(collect(log, { stream: STREAMS.feed, filters, after: 3 }).ended).rejects.toThrow(StreamRecreated);
    });

    it('answers the appends under way, ends its readers and takes no more when it is closed', async () => {
      const closing = await harness.connect();
      const subject = trajectory();
      const reader = collect(closing, { stream: STREAMS.record, filters: [subject], after: await end() });
      await eventually(() => reader.timesCaughtUp() === 1);
      const underWay = Array.from({ length: 50 }, () => closing.append({ subject, payload: bytes('x') }));
      await closing.close();
      for (const done of await Promise.all(underWay)) expect(done.outcome).toBe('appended');
      await reader.ended;
      expect(await closing.append({ subject, payload: bytes('late') })).toMatchObject({ outcome: 'unavailable' });
      await expect(closing.last(STREAMS.record, subject)).rejects.toThrow(/closed/);
    });
  });
}

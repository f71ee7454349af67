import { STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog, type EventLog, provisionStreams } from '@headway/eventlog';
import { collect } from '@headway/eventlog/conformance';
import { eventually, startNats, type TestNats } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CuttableProxy, startProxy } from './cuttable-proxy.ts';

const text = (payload: Uint8Array) => Buffer.from(payload).toString('utf8');

describe('the log on JetStream, through outages', () => {
  let nats: TestNats;
  let proxy: CuttableProxy;
  let log: EventLog;
  beforeAll(async () => {
    nats = await startNats({ own: true });
    await provisionStreams({ servers: nats.url, name: 'outage test' });
  });
  afterAll(() => nats?.stop());
  beforeEach(async () => {
    proxy = await startProxy(Number(new URL(nats.url).port));
    log = await connectJetStreamLog({ servers: `nats://127.0.0.1:${proxy.port}`, name: 'outage test' });
  });
  afterEach(async () => {
    await log.close();
    await proxy.close();
  });

  /**
   * Appends numbered texts, most freely and some with expected sequences, while `trouble` happens a few times; then
   * looks whether each acknowledged one stands once where it was told, and whether a reader saw each once in order.
   */
  async function survives(times: number, trouble: (time: number) => Promise<void>): Promise<void> {
    const free = subjects.evidence('t', `free-${Date.now()}`);
    const exclusive = subjects.evidence('t', `exclusive-${Date.now()}`);
    const { lastSequence: after } = await log.describe(STREAMS.evidence);
    const reader = collect(log, { stream: STREAMS.evidence, filters: [free, exclusive], after, batch: 50 });
    const told = new Map<number, string>();
    let stopping = false;
    let next = 0;
    const write = async (subject: string, expected: number | null) => {
      let last = expected;
      while (!stopping) {
        const content = `${subject} ${next++}`;
        const message = {
          subject,
          payload: Buffer.from(content),
          ...(last === null ? {} : { expectedLastSequence: last, messageId: content }),
        };
        const done = await log.append(message);
        // One writer of its subject: a conflict could only be with itself.
        if (done.outcome !== 'appended' && done.outcome !== 'duplicate') throw new Error(JSON.stringify(done));
        told.set(done.position.sequence, content);
        if (last !== null) last = done.position.sequence;
      }
    };
    const writers = Promise.all([...Array.from({ length: 20 }, () => write(free, null)), write(exclusive, 0)]);
    // Told by the await below; until then it is not unhandled.
    writers.catch(() => {});
    for (let time = 1; time <= times; time += 1) {
      const before = told.size;
      await eventually(() => told.size >= before + 300, { within: 30_000, what: 'appends after the trouble' });
      await trouble(time);
    }
    const before = told.size;
    await eventually(() => told.size >= before + 300, { within: 30_000, what: 'appends after the last trouble' });
    stopping = true;
    await writers;
    await eventually(() => reader.messages.length >= told.size, { within: 30_000, what: 'the reader at the end' });
    await reader.stop();
    const seen = reader.messages.map(({ sequence, payload }) => [sequence, text(payload)]);
    expect(seen).toEqual([...told].sort(([a], [b]) => a - b));
    expect(new Set(told.values()).size).toBe(next);
  }

  it('keeps each append once, and each reader in order, when the server is killed and starts again', () =>
    survives(3, async () => {
      await nats.kill9();
      await nats.restart();
    }));

  it('does so when the connection is cut in the middle of what is under way', () =>
    survives(5, async () => {
      proxy.cut();
    }));

  it('does so when acknowledgements and deliveries are swallowed before the connection is cut', () =>
    survives(3, async () => {
      const swallowed = proxy.swallowAnswers();
      await eventually(() => swallowed() > 1_000, { what: 'answers to swallow' });
      proxy.cut();
    }));

  it('answers unavailable when the server stays away, and each append once it is back', async () => {
    const subject = subjects.evidence('t', 'away');
    const hasty = await connectJetStreamLog({ servers: nats.url, name: 'outage test', appendWithinMs: 1_000 });
    await nats.kill9();
    const message = { subject, payload: Buffer.from('x'), messageId: `away-${Date.now()}`, expectedLastSequence: 0 };
    expect(await hasty.append(message)).toMatchObject({ outcome: 'unavailable' });
    await nats.restart();
    await hasty.close();
    expect(['appended', 'duplicate']).toContain((await log.append(message)).outcome);
    const stored = await log.last(STREAMS.evidence, subject);
    expect(text(stored?.payload ?? Buffer.from(''))).toBe('x');
  });

  it('tells its reader when the stream was made anew while the server was away', async () => {
    const subject = subjects.feed.assessment('t', 'anew');
    await log.append({ subject, payload: Buffer.from('x') });
    const reader = collect(log, { stream: STREAMS.feed, filters: ['trajectory.>'], after: 0 });
    await eventually(() => reader.messages.length === 1);
    proxy.refuse(true);
    const direct = await connect({ servers: nats.url });
    await direct.request('$JS.API.STREAM.DELETE.FEED');
    await direct.close();
    await provisionStreams({ servers: nats.url, name: 'outage test' });
    proxy.refuse(false);
    await expect(reader.ended).rejects.toThrow(/created anew/);
  });

  it('says which stream is missing and what to do', async () => {
    const direct = await connect({ servers: nats.url });
    await direct.request('$JS.API.STREAM.DELETE.FEED');
    await direct.close();
    await expect(log.describe(STREAMS.feed)).rejects.toThrow(/FEED.*provision/);
    await expect(collect(log, { stream: STREAMS.feed, filters: ['trajectory.>'], after: 0 }).ended).rejects.toThrow(
      /FEED.*provision/,
    );
    await provisionStreams({ servers: nats.url, name: 'outage test' });
  });
});

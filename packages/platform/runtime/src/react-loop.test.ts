import { randomUUID } from 'node:crypto';
import {
  type ConsumerDeclaration,
  connectJetStreamLog,
  createMemoryLog,
  createMemoryStreams,
  type EventLog,
  type LogMessage,
  LogUnavailable,
  provisionStreams,
} from '@headway/eventlog';
import { eventually, startNats } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reacted, type ReactLoopOptions, reacted, reactLoop } from './index.ts';

const consumer: ConsumerDeclaration = {
  name: 'test-reactor',
  stream: 'RECORD',
  filter: 'record.trajectory.>',
  ackWaitSeconds: 1,
  underWay: 100,
};
const backoff = { firstMs: 5, longestMs: 20 };
const textOf = (message: LogMessage) => Buffer.from(message.payload).toString('utf8');

const harnesses = {
  memory: async () => {
    const streams = createMemoryStreams();
    return { connect: async () => createMemoryLog({ streams }), stop: async () => {} };
  },
  'a NATS server': async () => {
    const nats = await startNats();
    const access = { servers: nats.url, name: 'reacting' };
    await provisionStreams({ ...access, consumers: [consumer] });
    return { connect: () => connectJetStreamLog(access), stop: () => nats.stop() };
  },
};

describe.each(Object.entries(harnesses))('reacting on %s', (_name, start) => {
  let harness: Awaited<ReturnType<(typeof harnesses)['memory']>>;
  let log: EventLog;
  beforeAll(async () => {
    harness = await start();
    log = await harness.connect();
  });
  afterAll(async () => {
    await log?.close();
    await harness?.stop();
  });

  const append = async (work: string, ...texts: string[]) => {
    for (const text of texts) {
      const done = await log.append({ subject: `record.trajectory.t.${work}`, payload: Buffer.from(text) });
      expect(done.outcome).toBe('appended');
    }
  };
  const started: { stop(): Promise<unknown> }[] = [];
  const react = (handle: ReactLoopOptions['handle'], more: Partial<ReactLoopOptions> = {}) => {
    const stopping = new AbortController();
    const letters: string[] = [];
    const loop = reactLoop({
      name: 'test',
      log,
      consumer,
      handle,
      deadLetter: async (message, reason) => void letters.push(`${textOf(message)}: ${reason}`),
      signal: stopping.signal,
      backoff,
      ...more,
    });
    const stop = () => {
      stopping.abort();
      return loop.ended;
    };
    started.push({ stop });
    return { loop, letters, stop };
  };
  const endAll = () => Promise.all(started.splice(0).map((each) => each.stop()));
  const work = () => `w-${randomUUID()}`;

  it('handles each message, and goes on after what a former process acknowledged', async () => {
    const seen: string[] = [];
    const first = react((message) => {
      seen.push(textOf(message));
      return reacted.ack;
    });
    await append(work(), 'a', 'b', 'c');
    await eventually(() => seen.length === 3);
    expect(await first.stop()).toEqual({ ended: 'aborted' });
    await append(work(), 'd');
    react((message) => {
      seen.push(textOf(message));
      return reacted.ack;
    });
    await eventually(() => seen.includes('d'));
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    await endAll();
  });

  it('delivers again what was handled and not acknowledged, as after a crash, and tells that it does', async () => {
    const stopping = new AbortController();
    await append(work(), 'once more');
    for await (const { message } of log.react({ consumer, signal: stopping.signal })) {
      expect(textOf(message)).toBe('once more');
      stopping.abort();
    }
    const seen: [string, number][] = [];
    react((message, deliveries) => {
      seen.push([textOf(message), deliveries]);
      return reacted.ack;
    });
    await eventually(() => seen.length > 0, { within: 10_000 });
    expect(seen).toEqual([['once more', 2]]);
    await endAll();
  });

  it('puts back for a while, in the order of each key, while other keys go on', async () => {
    const [one, two] = [work(), work()];
    const seen: string[] = [];
    const answers: Reacted[] = [reacted.retry('not yet', 300), reacted.retry('still not')];
    const { loop } = react((message) => {
      const text = textOf(message);
      const answer = text === 'one 1' ? answers.shift() : undefined;
      seen.push(answer === undefined ? text : `${text} put back`);
      return answer ?? reacted.ack;
    });
    await append(one, 'one 1', 'one 2', 'one 3');
    await append(two, 'two 1', 'two 2');
    await eventually(() => seen.includes('one 3'), { within: 15_000 });
    expect(seen.filter((text) => text.startsWith('one'))).toEqual([
      'one 1 put back',
      'one 1 put back',
      'one 1',
      'one 2',
      'one 3',
    ]);
    expect(seen.slice(0, 3)).toEqual(['one 1 put back', 'two 1', 'two 2']);
    expect(loop.state()).toMatchObject({ handled: 5, retries: 2, lastError: null, inHand: 0 });
    await endAll();
  });

  it('keeps a dead letter before it goes on, and tries again where it could not be kept', async () => {
    const letters: string[] = [];
    let refusals = 1;
    const seen: string[] = [];
    const { loop } = react(
      (message) => {
        seen.push(textOf(message));
        return textOf(message) === 'bad' ? reacted.deadLetter('cannot be read') : reacted.ack;
      },
      {
        deadLetter: async (message, reason) => {
          refusals -= 1;
          if (refusals === 0) throw new Error('the store is away');
          letters.push(`${textOf(message)}: ${reason}`);
        },
      },
    );
    await append(work(), 'bad', 'good');
    await eventually(() => seen.includes('good'), { within: 10_000 });
    expect(letters).toEqual(['bad: cannot be read']);
    expect(seen).toEqual(['bad', 'bad', 'good']);
    expect(loop.state()).toMatchObject({ handled: 1, deadLetters: 1 });
    await endAll();
  });

  it('tries again where the handler throws, and stops where it says so with the message put back', async () => {
    let calls = 0;
    const { loop } = react((message) => {
      calls += 1;
      if (calls === 1) throw new Error('broken once');
      return textOf(message) === 'halt' ? reacted.stop('cannot go on') : reacted.ack;
    });
    await append(work(), 'x');
    await append(work(), 'halt');
    expect(await loop.ended).toEqual({ ended: 'stopped', reason: 'cannot go on' });
    const seen: string[] = [];
    react((message) => {
      seen.push(textOf(message));
      return reacted.ack;
    });
    await eventually(() => seen.includes('halt'), { within: 10_000 });
    await endAll();
  });

  it('handles different keys at once up to the limit, and no key twice at once', async () => {
    const busy = new Map<string, number>();
    let most = 0;
    const seen: string[] = [];
    react(
      async (message) => {
        busy.set(message.subject, (busy.get(message.subject) ?? 0) + 1);
        expect(busy.get(message.subject)).toBe(1);
        most = Math.max(most, [...busy.values()].filter((count) => count > 0).length);
        await new Promise((resolve) => setTimeout(resolve, 2));
        busy.set(message.subject, 0);
        seen.push(textOf(message));
        return reacted.ack;
      },
      { atOnce: 4 },
    );
    const works = Array.from({ length: 8 }, work);
    for (let round = 0; round < 10; round += 1) for (const name of works) await append(name, `${name} ${round}`);
    await eventually(() => seen.length >= 80, { within: 20_000 });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    for (const name of works)
      expect(seen.filter((text) => text.startsWith(name))).toEqual(
        Array.from({ length: 10 }, (_, round) => `${name} ${round}`),
      );
    await endAll();
  });

  it('shares the messages among those who react under one name', async () => {
    const other = await harness.connect();
    const seen: string[] = [];
    const handle = (message: LogMessage) => {
      seen.push(textOf(message));
      return reacted.ack;
    };
    react(handle);
    react(handle, { log: other });
    const name = work();
    const texts = Array.from({ length: 50 }, (_, at) => `${at}`);
    await append(name, ...texts);
    await eventually(() => seen.length >= 50);
    expect([...seen].sort()).toEqual([...texts].sort());
    await endAll();
    await other.close();
  });
});

it('refuses a consumer that nobody provisioned, with what to do', async () => {
  const nats = await startNats();
  const access = { servers: nats.url, name: 'reacting' };
  await provisionStreams(access);
  const log = await connectJetStreamLog(access);
  const next = async () => {
    for await (const _ of log.react({ consumer, signal: AbortSignal.timeout(20_000) })) return;
  };
  await expect(next()).rejects.toThrow(LogUnavailable);
  await expect(next()).rejects.toThrow(/RECORD has no consumer test-reactor: provision/);
  expect(await provisionStreams({ ...access, consumers: [consumer] })).toContainEqual({
    stream: 'RECORD/test-reactor',
    change: 'created',
  });
  expect(await provisionStreams({ ...access, consumers: [consumer] })).toContainEqual({
    stream: 'RECORD/test-reactor',
    change: 'unchanged',
  });
  expect(await provisionStreams({ ...access, consumers: [{ ...consumer, underWay: 7 }] })).toContainEqual({
    stream: 'RECORD/test-reactor',
    change: 'updated',
  });
  await log.close();
  await nats.stop();
});

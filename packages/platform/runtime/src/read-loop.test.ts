import { type EventLog, type LogMessage, type ReadBatch, type ReadOptions, StreamRecreated } from '@headway/eventlog';
import { describe, expect, it } from 'vitest';
import { backoffDelay, type Handled, handled, type ReadLoopOptions, readLoop } from './index.ts';

/** A log of which only the reading is played: `script` gives what the n-th reader sees. */
function playedLog(script: (options: ReadOptions, reader: number) => AsyncIterable<ReadBatch>) {
  const readers: ReadOptions[] = [];
  const log = {
    read(options: ReadOptions) {
      readers.push(options);
      return script(options, readers.length);
    },
    describe: async () => ({ lastSequence: 10 }),
  } as unknown as EventLog;
  return { log, readers };
}
const message = (sequence: number) => ({ sequence }) as LogMessage;
const batch = (sequences: number[], caughtUp = false): ReadBatch => ({ messages: sequences.map(message), caughtUp });
const forEver = (signal: AbortSignal) =>
  new Promise<void>((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  );

/** Batches of the messages after a position up to 6, two at a time, then nothing new for ever. */
async function* sixMessages({ after, signal }: ReadOptions): AsyncGenerator<ReadBatch> {
  for (let at = after; at < 6; at += 2)
    yield batch(
      [at + 1, at + 2].filter((sequence) => sequence <= 6),
      at + 2 >= 6,
    );
  await forEver(signal);
}

function run(log: EventLog, handle: ReadLoopOptions['handle'], more: Partial<ReadLoopOptions> = {}) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const loop = readLoop({
    name: 'test',
    log,
    stream: 'EVIDENCE',
    filters: ['evidence.>'],
    after: 0,
    handle,
    signal: stop.signal,
    random: () => 0.5,
    pause: async (delay) => void pauses.push(delay),
    ...more,
  });
  return { loop, stop, pauses };
}

describe('the read loop', () => {
  it('gives everything in order, one batch at a time, and knows where it stands', async () => {
    const seen: number[] = [];
    const { log } = playedLog(sixMessages);
    let busy = false;
    const { loop, stop } = run(log, async ({ messages, caughtUp }) => {
      expect(busy).toBe(false);
      busy = true;
      await Promise.resolve();
      busy = false;
      seen.push(...messages.map(({ sequence }) => sequence));
      if (caughtUp) queueMicrotask(() => stop.abort());
      return handled.ok;
    });
    expect(await loop.ended).toEqual({ ended: 'aborted' });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(loop.state()).toEqual({
      position: 6,
      caughtUp: true,
      lastError: null,
      batches: 3,
      messages: 6,
      retries: 0,
    });
    expect(await loop.lag()).toBe(0);
  });

  it('gives a batch again after a retry and after a throw, waits longer each time, and forgets once it worked', async () => {
    const seen: number[][] = [];
    const answers: (Handled | 'throw')[] = [handled.ok, handled.retry('busy'), 'throw', handled.retry('later', 7)];
    const { log } = playedLog(sixMessages);
    const { loop, stop, pauses } = run(log, ({ messages, caughtUp }) => {
      seen.push(messages.map(({ sequence }) => sequence));
      const answer = answers.shift() ?? handled.ok;
      if (answer === 'throw') throw new Error('broken');
      if (caughtUp) queueMicrotask(() => stop.abort());
      return answer;
    });
    await loop.ended;
    expect(seen).toEqual([
      [1, 2],
      [3, 4],
      [3, 4],
      [3, 4],
      [3, 4],
      [5, 6],
    ]);
    expect(pauses).toEqual([37.5, 75, 7]);
    expect(loop.state()).toMatchObject({ position: 6, retries: 3, lastError: null });
  });

  it('says what holds it up while it does, and how far behind it is', async () => {
    const { log } = playedLog(sixMessages);
    let failing = true;
    const held = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const { loop, stop } = run(log, () => (failing ? handled.retry('the store is away') : handled.ok), {
      pause: () => {
        held.resolve();
        return go.promise;
      },
    });
    await held.promise;
    expect(loop.state()).toMatchObject({ position: 0, caughtUp: false, lastError: 'the store is away' });
    expect(await loop.lag()).toBe(10);
    failing = false;
    stop.abort();
    go.resolve();
    expect(await loop.ended).toEqual({ ended: 'aborted' });
  });

  it('stops before the batch that the handler stops at', async () => {
    const { log } = playedLog(sixMessages);
    const { loop } = run(log, ({ messages }) => (messages[0]?.sequence === 3 ? handled.stop('poisoned') : handled.ok));
    expect(await loop.ended).toEqual({ ended: 'stopped', reason: 'poisoned' });
    expect(loop.state().position).toBe(2);
  });

  it('reads on from its position after the log broke or ended a reader', async () => {
    const seen: number[] = [];
    const { log, readers } = playedLog(async function* (options, reader) {
      if (reader === 1) {
        yield batch([1, 2]);
        throw new Error('connection lost');
      }
      if (reader === 2) {
        yield batch([3]);
        return;
      }
      yield* sixMessages(options);
    });
    const { loop, stop } = run(log, ({ messages, caughtUp }) => {
      seen.push(...messages.map(({ sequence }) => sequence));
      if (caughtUp) queueMicrotask(() => stop.abort());
      return handled.ok;
    });
    await loop.ended;
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(readers.map(({ after }) => after)).toEqual([0, 2, 3]);
  });

  it('ends when the stream is another one', async () => {
    const { log } = playedLog(async function* () {
      yield batch([1]);
      throw new StreamRecreated('EVIDENCE was created anew');
    });
    const { loop } = run(log, () => handled.ok);
    expect(await loop.ended).toEqual({ ended: 'recreated', reason: 'EVIDENCE was created anew' });
  });
});

it('backs off between half and the whole of a doubling that is bounded', () => {
  const backoff = { firstMs: 100, longestMs: 1_000 };
  expect([1, 2, 3, 4, 5, 1_000].map((failures) => backoffDelay(failures, backoff, 0))).toEqual([
    50, 100, 200, 400, 500, 500,
  ]);
  expect(backoffDelay(2, backoff, 0.999)).toBeLessThan(200);
});

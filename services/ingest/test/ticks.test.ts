import { PARTITIONS, subjects } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import { createLogger } from '@headway/runtime';
import { eventually, fakeClock } from '@headway/testkit';
import { expect, it } from 'vitest';
import { tickForEver } from '../src/ticks.ts';
import { commitOf, messagesOf } from './ingest-under-test.ts';

const logger = createLogger('test');
logger.level = 'silent';
const clock = fakeClock();

function replica(log: EventLog, everySeconds: number) {
  const stop = new AbortController();
  const done = tickForEver({
    log,
    clock,
    everySeconds,
    logger,
    signal: stop.signal,
    pause: (milliseconds, signal) =>
      Promise.race([
        clock.wait(milliseconds),
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      ]),
  });
  return {
    async stop() {
      stop.abort();
      await done;
    },
  };
}

it('posts one tick to each partition at each interval, two replicas together', async () => {
  const streams = createMemoryStreams();
  const [one, two] = [createMemoryLog({ streams, clock }), createMemoryLog({ streams, clock })];
  const replicas = [replica(one, 60), replica(two, 60)];
  for (let minute = 1; minute <= 3; minute += 1) {
    clock.advance(60_000);
    await eventually(async () => (await messagesOf(one)).length === minute * PARTITIONS);
  }
  await Promise.all(replicas.map((each) => each.stop()));
  const messages = await messagesOf(one);
  expect(new Set(messages.map(({ subject }) => subject))).toEqual(
    new Set(Array.from({ length: PARTITIONS }, (_, partition) => subjects.tick(partition))),
  );
  const first = messages[0];
  const id = `tick.0.${Math.floor(Date.UTC(2026, 0, 1) / 60_000) + 1}`;
  expect(first?.messageId).toBe(id);
  expect(commitOf(first as never).events).toEqual([
    {
      specversion: '1.0',
      id,
      source: 'headway/ingest',
      type: 'headway.monitor.ticked',
      time: '2026-01-01T00:01:00.000Z',
      data: {},
    },
  ]);
});

it('posts none where it is off', async () => {
  const log = createMemoryLog({ clock });
  await replica(log, 0).stop();
  clock.advance(600_000);
  expect(await messagesOf(log)).toEqual([]);
});

import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import { afterEach, expect, it } from 'vitest';
import { eventsOf, type IngestUnderTest, memoryArchive, note, startIngest } from './ingest-under-test.ts';

const running: IngestUnderTest[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

it('of two requests at once for one work, nothing is taken after an event of it that was not', async () => {
  const streams = createMemoryStreams();
  const store = createMemoryLog({ streams });
  const held = Promise.withResolvers<void>();
  let first = true;
  const slow: EventLog = {
    ...store,
    append: async (message) => {
      if (!first) return store.append(message);
      first = false;
      await held.promise;
      return { outcome: 'unavailable', reason: 'fault' };
    },
  };
  const ingest = await startIngest({ store, log: slow, archive: memoryArchive(store) });
  running.push(ingest);
  await ingest.untilReady();
  const a = ingest.batch([note('e1')]);
  while (first) await new Promise((resolve) => setImmediate(resolve));
  const b = ingest.batch([note('e1'), note('e2')]);
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  held.resolve();
  await Promise.all([a, b]);
  await ingest.batch([note('e1'), note('e2')]);
  expect((await eventsOf(store)).map(({ id }) => id)).toEqual(['e1', 'e2']);
});

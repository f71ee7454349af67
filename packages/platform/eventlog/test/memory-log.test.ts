import { createMemoryLog, createMemoryStreams } from '@headway/eventlog';
import { describeEventLog } from '@headway/eventlog/conformance';
import { fakeClock } from '@headway/testkit';
import { expect, it } from 'vitest';

describeEventLog('the log in memory', async () => {
  const streams = createMemoryStreams();
  return {
    connect: async () => createMemoryLog({ streams }),
    recreate: async (stream) => streams.recreate(stream),
    stop: async () => {},
  };
});

it('forgets a message id after the window', async () => {
  const clock = fakeClock();
  const log = createMemoryLog({ clock });
  const message = { subject: 'evidence.1.t.w', payload: new Uint8Array(1), messageId: 'one' };
  await log.append(message);
  clock.advance(119_000);
  expect((await log.append(message)).outcome).toBe('duplicate');
  clock.advance(2_000);
  expect((await log.append(message)).outcome).toBe('appended');
});

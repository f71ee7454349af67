import { createMemoryLog, type EventLog } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { loadWorks } from '../src/works.ts';

it('gives the turn back only when every write is answered, also where one fails', async () => {
  const answered = Promise.withResolvers<void>();
  const log = createMemoryLog();
  const slow: EventLog = {
    ...log,
    append: async (message) => {
      if (message.subject.endsWith('.W-1')) return { outcome: 'unavailable', reason: 'fault' };
      const outcome = await log.append(message);
      await answered.promise;
      return outcome;
    },
  };
  const works = await loadWorks(slow, () => true);
  const open = await Promise.all([works.open('t', 'W-1'), works.open('t', 'W-2')]);
  for (const work of open) works.changed(work);
  const seen: string[] = [];
  const recording = works.record().catch(() => seen.push('failed'));
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  seen.push('answered');
  answered.resolve();
  await recording;
  expect(seen).toEqual(['answered', 'failed']);
  expect(open.map(({ changed }) => changed)).toEqual([true, false]);
});

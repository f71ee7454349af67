import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { Fenced } from '../src/ports.ts';
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

it('never takes the record of another owner for its own, also where both cover the same', async () => {
  const streams = createMemoryStreams();
  const owners = await Promise.all([1, 2].map(() => loadWorks(createMemoryLog({ streams }), () => true)));
  const [first, second] = await Promise.all(owners.map((works) => works.open('t', 'W-1')));
  // Evidence and an acknowledgement come by two streams: each may have folded them in another order.
  for (const [at, work] of [first, second].entries()) {
    if (work === undefined) continue;
    work.covered = 5;
    work.answered = 7;
    work.state = { ...work.state, attempts: at };
    owners[at]?.changed(work);
  }
  await owners[0]?.record();
  await expect(owners[1]?.record()).rejects.toThrow(Fenced);
});

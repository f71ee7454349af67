import { createMemoryLog, withFaults } from '@headway/eventlog';
import { collect } from '@headway/eventlog/conformance';
import { eventually } from '@headway/testkit';
import { expect, it } from 'vitest';

const subject = 'evidence.1.t.w';
const payload = new Uint8Array(1);

it('answers as planned, and stores only what it says', async () => {
  const log = createMemoryLog();
  const plan = [null, 'answer-lost', 'message-lost', 'conflict'] as const;
  const faulty = withFaults(log, { append: (_message, number) => plan[number - 1] ?? null });
  const lengths: [string, number][] = [];
  for (let number = 1; number <= 5; number += 1) {
    const { outcome } = await faulty.append({ subject, payload });
    lengths.push([outcome, (await log.describe('EVIDENCE')).lastSequence]);
  }
  expect(lengths).toEqual([
    ['appended', 1],
    ['unavailable', 2],
    ['unavailable', 2],
    ['conflict', 2],
    ['appended', 3],
  ]);
});

it('keeps a slow reader slow, not wrong', async () => {
  const log = createMemoryLog();
  const gates: (() => void)[] = [];
  const slow = withFaults(log, { beforeBatch: () => new Promise((resolve) => gates.push(resolve)) });
  for (let number = 0; number < 3; number += 1) await log.append({ subject, payload });
  const reader = collect(slow, { stream: 'EVIDENCE', filters: ['evidence.>'], after: 0, batch: 2 });
  await eventually(() => gates.length === 1);
  expect(reader.messages).toHaveLength(0);
  gates.shift()?.();
  await eventually(() => gates.length === 1);
  expect(reader.messages.map(({ sequence }) => sequence)).toEqual([1, 2]);
  gates.shift()?.();
  await eventually(() => reader.messages.length === 3);
  await reader.stop();
});

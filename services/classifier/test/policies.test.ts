import { encodeRecord, type PolicySet, subjects } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams } from '@headway/eventlog';
import { createLogger } from '@headway/runtime';
import { expect, it } from 'vitest';
import { loadPolicies } from '../src/policies.ts';

const set = (version: number, lane: string | null = null): PolicySet => ({
  specversion: '1.0',
  id: `policy ${version}`,
  source: 'test',
  type: 'headway.policy.set',
  time: '2026-01-01T00:00:00Z',
  data: { version, lane, numbers: { sameFailure: version + 2 }, by: 'ana', why: 'a test' },
});

it('policies that were trimmed out of the evidence hold for what stood after them', async () => {
  const log = createMemoryLog({ streams: createMemoryStreams() });
  // As trimming leaves it: versions 1 and 2 in the record, with a copy of the newest, and 3 in the evidence.
  const kept = async (name: number | 'newest', version: number, sequence: number) =>
    log.append({
      subject: subjects.keptPolicy('t', name),
      payload: encodeRecord({ v: 1, sequence, events: [set(version)] }),
    });
  await kept(1, 1, 0.25);
  await kept(2, 2, 0.5);
  await kept('newest', 2, 0.5);
  await log.append({ subject: subjects.policy('t'), payload: encodeRecord({ v: 1, events: [set(3, 'ui')] }) });
  const logger = createLogger('test');
  logger.level = 'silent';
  const policies = await loadPolicies(log, logger, AbortSignal.timeout(10_000));
  expect(policies.at('t', null, 0).version).toBe(0);
  expect(policies.at('t', null, 0.25)).toMatchObject({ version: 1, sameFailure: 3 });
  expect(policies.at('t', null, 5)).toMatchObject({ version: 2, sameFailure: 4 });
  expect(policies.at('t', 'ui', 5)).toMatchObject({ version: 3, sameFailure: 5 });
  expect(policies.version('t', 1)).toMatchObject({ sameFailure: 3 });
  expect(policies.at('other', null, 5).version).toBe(0);
});

it('policies that are trimmed while they are loaded are not missed', async () => {
  const log = createMemoryLog({ streams: createMemoryStreams() });
  await log.append({ subject: subjects.policy('t'), payload: encodeRecord({ v: 1, events: [set(1)] }) });
  const logger = createLogger('test');
  logger.level = 'silent';
  let trimmed = false;
  /** Kept in the record, then taken out of the evidence, between the two looks of whoever loads. */
  const trim = async () => {
    if (trimmed) return;
    trimmed = true;
    const kept = encodeRecord({ v: 1, sequence: 1, events: [set(1)] });
    await log.append({ subject: subjects.keptPolicy('t', 1), payload: kept });
  };
  const trimming: Pick<typeof log, 'read' | 'newestOfEach'> = {
    read: async function* (options) {
      try {
        for await (const batch of log.read(options)) yield { ...batch, messages: trimmed ? [] : batch.messages };
      } finally {
        await trim();
      }
    },
    newestOfEach: async function* (stream, filter) {
      yield* log.newestOfEach(stream, filter);
      await trim();
    },
  };
  const policies = await loadPolicies(trimming, logger, AbortSignal.timeout(10_000));
  expect(policies.at('t', null, 5)).toMatchObject({ version: 1, sameFailure: 3 });
});

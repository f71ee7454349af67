import {
  contentDigest,
  type DeadLetterRecord,
  type EvidenceEvent,
  encodeRecord,
  type SignalsRecord,
  STREAMS,
  subjects,
} from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog, withFaults } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { signal } from '@headway/trajectory';
import { expect, it } from 'vitest';
import { readCommit } from '../src/assess-evidence.ts';
import { accept, coveredRecord, everything, failed, memoryClaims, recorded, replicasOfTests } from './fleet.ts';

const { start, endLater } = replicasOfTests();

/** A commit as a later version of Headway would write it: this one cannot read it. */
async function acceptOfTheFuture(log: EventLog, work: string, events: readonly EvidenceEvent[]): Promise<number> {
  const commit = { v: 1 as const, events, contents: events.map(contentDigest) };
  const payload = Buffer.from(JSON.stringify({ ...commit, v: 2 }));
  const answer = await log.append({ subject: subjects.evidence('t', work), payload });
  if (answer.outcome !== 'appended') throw new Error(answer.outcome);
  return answer.position.sequence;
}

/** The code after the fix. */
const fixed: typeof readCommit = (message) =>
  readCommit({
    ...message,
    payload: Buffer.from(Buffer.from(message.payload).toString('utf8').replace('"v":2', '"v":1')),
  });

const lettersOn = async (log: EventLog) =>
  (await everything(log, STREAMS.record))
    .filter(({ subject }) => subject.startsWith('record.deadletter.'))
    .map(({ subject, payload }) => ({
      subject,
      data: (JSON.parse(Buffer.from(payload).toString('utf8')) as DeadLetterRecord).events[0]?.data,
    }));

const act = (log: EventLog, type: 'retried' | 'dropped', sequence: number, of = 'classifier-EVIDENCE') =>
  log.append({
    subject: subjects.act('t'),
    payload: encodeRecord({
      v: 1,
      events: [
        {
          type: `headway.dead-letter.${type}`,
          id: `${type} ${sequence} ${performance.now()}`,
          time: '2026-01-01T00:00:00Z',
          by: 'operator',
          why: 'test',
          data: { letter: `${of}-1-${sequence}` },
        },
      ],
    }),
  });

const attemptsOf = async (log: EventLog, work: string) =>
  (await recorded(log)).assessments.filter((event) => event.work === work).map((event) => event.data.attempts);

it('holds one work at what it cannot fold, tells of it on the log, and completes it in order after the fix', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  const claims = memoryClaims();
  const works = Array.from({ length: 200 }, (_, at) => `W-${at}`);
  const old = start(createMemoryLog({ streams }), claims);
  let poison = 0;
  for (const work of works) {
    const event = failed(work, [work], 'd1');
    if (work === 'W-100') poison = await acceptOfTheFuture(log, work, [event]);
    else await accept(log, 't', [event]);
  }
  for (let again = 0; again < 2; again += 1) await accept(log, 't', [failed('W-100', ['W-100'], 'd1')]);
  const last = await accept(log, 't', [failed('W-199', ['W-199'], 'd1')]);
  await coveredRecord(log, 't', 'W-199', last);
  expect(await lettersOn(log)).toMatchObject([
    {
      subject: subjects.deadLetter('t', 'W-100'),
      data: { reader: 'classifier', sequence: poison, error: 'version 2 of evidence is not known' },
    },
  ]);
  for (const work of works)
    expect((await attemptsOf(log, work)).length).toBe(Number(work !== 'W-100') + Number(work === 'W-199'));

  // A retry before the fix: it fails again, and says so again.
  await act(log, 'retried', poison);
  await eventually(async () => (await lettersOn(log)).length === 2);
  await old.stop();

  start(createMemoryLog({ streams }), claims, { readCommit: fixed });
  await eventually(async () => (await attemptsOf(log, 'W-100')).length === 3);
  expect(await attemptsOf(log, 'W-100')).toEqual([1, 2, 3]);
  await eventually(async () => (await recorded(log)).signals.length === 1);
});

it('retries at once when an operator says so, without a restart of the process', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  let broken = true;
  start(createMemoryLog({ streams }), memoryClaims(), {
    readCommit: (message) => {
      if (broken && message.sequence === 1) throw new Error('what it stands on is broken');
      return readCommit(message);
    },
  });
  await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
  await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
  await eventually(async () => (await lettersOn(log)).length === 1);
  broken = false;
  await act(log, 'retried', 1);
  await eventually(async () => (await attemptsOf(log, 'W-1')).length === 2);
  expect(await lettersOn(log)).toHaveLength(1);
});

it('passes over what an operator drops, also after a restart, and goes on with what waited', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  const claims = memoryClaims();
  const first = start(createMemoryLog({ streams }), claims);
  await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
  const poison = await acceptOfTheFuture(log, 'W-1', [failed('W-1', ['a'], 'd1')]);
  const last = await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
  await eventually(async () => (await lettersOn(log)).length === 1);
  await act(log, 'dropped', poison);
  await coveredRecord(log, 't', 'W-1', last);
  expect(await attemptsOf(log, 'W-1')).toEqual([1, 2]);
  await first.stop();
  const second = start(createMemoryLog({ streams }), claims);
  endLater(second.stop);
  const more = await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
  await coveredRecord(log, 't', 'W-1', more);
  expect(await attemptsOf(log, 'W-1')).toEqual([1, 2, 3]);
  expect(await lettersOn(log)).toHaveLength(1);
});

it('tells of what it cannot fold also where the log refuses that at first', async () => {
  const streams = createMemoryStreams();
  let refused = 0;
  const faulty = withFaults(createMemoryLog({ streams }), {
    append: ({ subject }) => {
      if (!subject.startsWith('record.deadletter.') || refused > 1) return null;
      refused += 1;
      return refused === 1 ? 'message-lost' : 'answer-lost';
    },
  });
  const log = createMemoryLog({ streams });
  start(faulty);
  await acceptOfTheFuture(log, 'W-1', [failed('W-1', ['a'], 'd1')]);
  const other = await accept(log, 't', [failed('W-2', ['a'], 'd1')]);
  await coveredRecord(log, 't', 'W-2', other);
  expect(await lettersOn(log)).toHaveLength(1);
});

it('lets a tenant stand still whose signals cannot be judged: all others get theirs, and after the fix it gets them in order', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  const claims = memoryClaims();
  const judgeEvent: typeof signal = (state, event, tenant) => {
    if (tenant === 'broken' && event.work === 'W-1') throw new TypeError('a mistake in the code that judges');
    return signal(state, event, tenant);
  };
  const old = start(createMemoryLog({ streams }), claims, { judgeEvent });
  const failThrice = async (tenant: string, work: string) => {
    let sequence = 0;
    for (let again = 0; again < 3; again += 1) sequence = await accept(log, tenant, [failed(work, [work], 'd1')]);
    return coveredRecord(log, tenant, work, sequence);
  };
  const raisedOf = async (tenant: string) =>
    (await everything(log, STREAMS.record))
      .filter(({ subject }) => subject === subjects.signals(tenant))
      .flatMap(({ payload }) => (JSON.parse(Buffer.from(payload).toString('utf8')) as SignalsRecord).events)
      .flatMap((event) => (event.type === 'headway.signal.raised' ? event.data.works : []));
  await failThrice('broken', 'W-1');
  await failThrice('broken', 'W-2');
  await failThrice('whole', 'W-3');
  await eventually(async () => (await raisedOf('whole')).length === 1, { what: 'the signal of the other tenant' });
  expect(await raisedOf('broken')).toEqual([]);
  const [letter] = await lettersOn(log);
  expect(letter).toMatchObject({
    subject: subjects.deadLetter('broken', ''),
    data: { reader: 'signaller', stream: 'RECORD', error: 'a mistake in the code that judges' },
  });
  await act(log, 'retried', letter?.data?.sequence ?? 0, 'signaller-RECORD');
  await eventually(async () => (await lettersOn(log)).length === 2, { what: 'that it failed again' });
  await old.stop();

  start(createMemoryLog({ streams }), claims);
  await eventually(async () => (await raisedOf('broken')).length === 2, { what: 'the signals of the held tenant' });
  expect(await raisedOf('broken')).toEqual(['W-1', 'W-2']);
  expect(await raisedOf('whole')).toEqual(['W-3']);
});

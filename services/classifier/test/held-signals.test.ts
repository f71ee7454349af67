import { type DeadLetterRecord, encodeRecord, parseSubject, STREAMS, subjects } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { initialState } from '@headway/trajectory';
import { expect, it } from 'vitest';
import {
  accept,
  claimed,
  coveredRecord,
  everything,
  failed,
  raisedSignals,
  recorded,
  replicasOfTests,
  replied,
} from './fleet.ts';

const { start } = replicasOfTests();

/** A record that neither signaller nor feed can handle; no evidence is of its work, so that nothing else reads it. */
async function poison(log: EventLog, tenant: string): Promise<number> {
  const events = [null] as never;
  const answer = await log.append({
    subject: subjects.trajectory(tenant, 'ghost'),
    payload: encodeRecord({ v: 1, covered: 0, within: 0, answered: 0, awaits: false, events, state: initialState() }),
  });
  if (answer.outcome !== 'appended') throw new Error(answer.outcome);
  return answer.position.sequence;
}

const lettersOn = async (log: EventLog) =>
  (await everything(log, STREAMS.record))
    .filter(({ subject }) => parseSubject(subject)?.kind === 'dead-letter')
    .map(({ payload }) => (JSON.parse(Buffer.from(payload).toString('utf8')) as DeadLetterRecord).events[0]?.data);

const act = (log: EventLog, type: 'retried' | 'dropped', letter: string) =>
  log.append({
    subject: subjects.act('bad'),
    payload: encodeRecord({
      v: 1,
      events: [
        {
          type: `headway.dead-letter.${type}`,
          id: `${type} ${letter} ${performance.now()}`,
          time: '2026-01-01T00:00:00Z',
          by: 'operator',
          why: 'test',
          data: { letter },
        },
      ],
    }),
  });

async function stagnate(log: EventLog, tenant: string, work: string): Promise<number> {
  let sequence = 0;
  for (let again = 0; again < 3; again += 1) sequence = await accept(log, tenant, [failed(work, [work], 'd1')]);
  return sequence;
}

const signalled = async (log: EventLog) =>
  (await recorded(log)).signals.flatMap((event) =>
    event.type === 'headway.signal.raised' && event.data.kind === 'stagnating' ? event.data.works : [],
  );
const announced = async (log: EventLog) =>
  (await everything(log, STREAMS.feed)).filter(({ subject }) => subject.startsWith('trajectory.assessment.'));

it('a record that cannot be judged stops the signals of its tenant until it is dropped, and of no other', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  const replica = start(createMemoryLog({ streams }));
  await stagnate(log, 'bad', 'W-before');
  await eventually(async () => (await signalled(log)).includes('W-before'));
  const sequence = await poison(log, 'bad');
  await stagnate(log, 'bad', 'W-behind');
  await stagnate(log, 'good', 'W-good');
  await eventually(async () => (await signalled(log)).includes('W-good'), { what: 'the signal of the other tenant' });
  // Other works of the tenant are announced too: it is one work that the feed cannot tell of.
  await eventually(async () => (await announced(log)).length === 9, { what: 'all assessments in the feed' });
  expect(await signalled(log)).not.toContain('W-behind');
  expect(replica.trouble()).toBeNull();
  expect((await lettersOn(log)).map((data) => `${data?.reader} ${data?.sequence}`).sort()).toEqual([
    `feed ${sequence}`,
    `signaller ${sequence}`,
  ]);

  await act(log, 'retried', `signaller-RECORD-1-${sequence}`);
  const ofSignaller = async () => (await lettersOn(log)).filter((data) => data?.reader === 'signaller');
  await eventually(async () => (await ofSignaller()).length === 2, { what: 'a second letter after a retry in vain' });
  expect(await signalled(log)).not.toContain('W-behind');

  await act(log, 'dropped', `signaller-RECORD-1-${sequence}`);
  await eventually(async () => (await signalled(log)).includes('W-behind'), { what: 'what waited behind it' });
  expect((await signalled(log)).sort()).toEqual(['W-before', 'W-behind', 'W-good']);
});

it('a reply that nobody judges holds its work alone, which goes on when the signals do', async () => {
  const streams = createMemoryStreams();
  const log = createMemoryLog({ streams });
  start(createMemoryLog({ streams }), undefined, { judgmentSeconds: 0.2 });
  await accept(log, 'bad', [claimed('W-replies')]);
  await stagnate(log, 'bad', 'W-replies');
  await eventually(async () => (await raisedSignals(log)).length === 1);
  const [signal = ''] = await raisedSignals(log);
  const sequence = await poison(log, 'bad');
  await eventually(async () => (await lettersOn(log)).some((data) => data?.reader === 'signaller'));
  await accept(log, 'bad', [replied('W-replies', signal)]);
  const behind = await accept(log, 'bad', [failed('W-replies', ['a'], 'd2')]);
  const other = await accept(log, 'bad', [failed('W-other', ['b'], 'd1')]);
  const good = await stagnate(log, 'good', 'W-good');
  await coveredRecord(log, 'bad', 'W-other', other);
  await coveredRecord(log, 'good', 'W-good', good);
  expect((await recorded(log)).signals.map(({ type }) => type)).not.toContain('headway.signal.acknowledged');

  await act(log, 'dropped', `signaller-RECORD-1-${sequence}`);
  await coveredRecord(log, 'bad', 'W-replies', behind);
  expect((await recorded(log)).signals.map(({ type }) => type)).toContain('headway.signal.acknowledged');
});

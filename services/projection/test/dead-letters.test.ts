import {
  type DeadLetterView,
  type EvidenceCommit,
  type EvidenceEvent,
  encodeRecord,
  type Page,
  type Problem,
  subjects,
  type WorkView,
} from '@headway/contracts';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Decode, decode } from '../src/decode.ts';
import { apiOver } from './api.ts';
import { assessed, assessment, attempt, evidence, fact, signallerAt, trajectory } from './records.ts';
import { contents, type Rig, startRig } from './rig.ts';

let server: TestPostgres;
const open: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
afterAll(async () => {
  await server?.stop();
});

/** The same commit as a later version of Headway would write it: this one cannot read it. */
const ofTheFuture = (work: string, events: readonly EvidenceEvent[]) => {
  const message = evidence(work, events);
  const commit = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EvidenceCommit;
  return { ...message, payload: Buffer.from(JSON.stringify({ ...commit, v: 2 })) };
};

/** The code after the fix: it reads the later version too. */
const fixed: Decode = (message) => {
  const text = Buffer.from(message.payload).toString('utf8');
  return decode({ ...message, payload: Buffer.from(text.replace('"v":2', '"v":1')) });
};

async function api(rig: Rig, read?: Decode) {
  const over = apiOver(rig, read);
  open.push({ stop: () => over.app.close() });
  return over;
}

async function rig(): Promise<Rig> {
  const started = await startRig(server);
  open.push({ stop: () => started.stop() });
  return started;
}

/** A thousand works; the first event of W-500 is one that this version cannot read, and more follows it. */
function thousand() {
  const works = Array.from({ length: 1_000 }, (_, at) => `W-${at}`);
  const claims = works.map((work) =>
    fact('headway.work.claimed', { worker: `agent of ${work}` }, { id: `claim ${work}` }),
  );
  const later = ['a', 'b', 'c'].map((id) => attempt({ id: `W-500 ${id}` }));
  return {
    poison: 501,
    messages: [
      ...works.map((work, at) => (work === 'W-500' ? ofTheFuture : evidence)(work, [claims[at] as EvidenceEvent])),
      ...later.map((event) => evidence('W-500', [event])),
    ],
    records: [
      trajectory(
        'W-500',
        1_003,
        later.map((event) => assessed('W-500', event, assessment('same-failure'))),
      ),
    ],
  };
}

test('one event that cannot be read holds its work, 999 others go on, and a retry after the fix completes it in order', async () => {
  const on = await rig();
  const { messages, records, poison } = thousand();
  const { get, act } = await api(on);
  await on.say(...messages);
  await on.say(...records);
  await on.settled();
  const [counted] = await on.sql<{ n: string }>('select count(*) as n from headway.works');
  expect(Number(counted?.n)).toBe(999);
  expect((await get('/v1/works/W-500')).status).toBe(404);
  const listed = await get<Page<DeadLetterView>>('/v1/deadletters');
  expect(listed.body.items).toMatchObject([
    {
      letter: `projection-EVIDENCE-1-${poison}`,
      reader: 'projection',
      work: 'W-500',
      error: 'version 2 of evidence is not known',
      state: 'open',
      attempts: 1,
      waiting: 4,
    },
  ]);
  const letter = `/v1/deadletters/projection-EVIDENCE-1-${poison}`;

  // Nothing was fixed: a retry fails, and says so.
  const vain = await act(`${letter}/retry`, { why: 'perhaps it helps' });
  expect(vain.status).toBe(202);
  const after = await get<DeadLetterView>(`${letter}?after=${vain.body.position}`);
  expect(after.body).toMatchObject({ state: 'open', attempts: 2, waiting: 4 });
  await on.endProjecting();

  const now = await api(on, fixed);
  const retried = await now.act(`${letter}/retry`, { why: 'reads version 2 now', as: 'maria' });
  const done = await now.get<DeadLetterView>(`${letter}?after=${retried.body.position}`);
  expect(done.body).toMatchObject({
    state: 'retried',
    waiting: 0,
    closedBy: 'operator (maria)',
    why: 'reads version 2 now',
  });
  expect((await now.get<WorkView>('/v1/works/W-500')).body).toMatchObject({
    worker: 'agent of W-500',
    class: 'stagnating',
    attempts: 3,
  });
  const timeline = await now.get<Page<{ id: string }>>('/v1/works/W-500/timeline');
  expect(timeline.body.items.map(({ id }) => id)).toEqual([
    'claim W-500',
    'W-500 a',
    'W-500 b',
    'W-500 c',
    'a-W-500 a',
  ]);

  // A second retry of the same letter changes nothing, and what follows is projected as ever.
  expect((await now.act(`${letter}/retry`, { why: 'again' })).body.code).toBe('letter_closed');
  await on.say(evidence('W-500', [attempt({ id: 'W-500 d' })]));
  await on.settled();

  // As if the fix had been there from the start.
  const other = await rig();
  other.project(fixed);
  await other.say(...messages);
  await other.say(...records);
  await other.settled();
  await other.say(evidence('W-500', [attempt({ id: 'W-500 d' })]));
  await other.settled();
  const pick = async (from: Rig) => {
    const { works, timeline: lines, identities, holds, waiting } = (await contents(from)) as Record<string, object[]>;
    const plain = (rows: object[] = []) => rows.map((row) => ({ ...row, updated_at: null, recorded_at: null }));
    return { works: plain(works), lines: plain(lines), identities, holds, waiting };
  };
  expect(await pick(on)).toEqual(await pick(other));
});

test('a dropped event is passed over for ever, and what waited behind it goes on', async () => {
  const on = await rig();
  const { get, act } = await api(on);
  await on.say(
    evidence('W-1', [attempt({ id: 'before' })]),
    ofTheFuture('W-1', [attempt({ id: 'never' })]),
    evidence('W-1', [attempt({ id: 'after' })]),
    ofTheFuture('W-1', [attempt({ id: 'another' })]),
    evidence('W-1', [attempt({ id: 'last' })]),
  );
  await on.settled();
  const ids = async () => (await get<Page<{ id: string }>>('/v1/works/W-1/timeline')).body.items.map(({ id }) => id);
  expect(await ids()).toEqual(['before']);
  const dropped = await act('/v1/deadletters/projection-EVIDENCE-1-2/drop', { why: 'a test of the reporter' });
  const shown = await get<DeadLetterView>(`/v1/deadletters/projection-EVIDENCE-1-2?after=${dropped.body.position}`);
  expect(shown.body).toMatchObject({ state: 'dropped', closedBy: 'operator', why: 'a test of the reporter' });
  // The next one that cannot be read holds the work again, at itself.
  expect(await ids()).toEqual(['before', 'after']);
  expect((await get<Page<DeadLetterView>>('/v1/deadletters')).body.items).toMatchObject([
    { letter: 'projection-EVIDENCE-1-4', waiting: 1 },
  ]);
  expect((await get<Page<DeadLetterView>>('/v1/deadletters?state=all')).body.items).toHaveLength(2);
  const archived = await on.sql<{ payload: Buffer }>(`select payload from headway.archive where stream = 'ACTS'`);
  expect(JSON.parse(archived[0]?.payload.toString('utf8') ?? '')).toMatchObject({
    events: [{ type: 'headway.dead-letter.dropped', by: 'operator', why: 'a test of the reporter' }],
  });
});

test('a read that asks for evidence of a held work is told so at once; the fleet is shown without it', async () => {
  const on = await rig();
  const { get } = await api(on);
  await on.say(evidence('W-1', [attempt()]), ofTheFuture('W-2', [attempt()]), evidence('W-2', [attempt()]));
  await on.settled();
  const [first] = (await on.sql<{ work: string }>('select work from headway.works')) ?? [];
  expect(first?.work).toBe('W-1');
  const held = await get<Problem>('/v1/works/W-2?after=EVIDENCE:1:3');
  expect(held).toMatchObject({ status: 409, body: { code: 'work_held' } });
  expect(held.body.detail).toContain('projection-EVIDENCE-1-2');
});

test('what the classifier cannot fold is shown with the others, and counts as tried again where it says so again', async () => {
  const on = await rig();
  const { get, act } = await api(on);
  const poisoned = await on.say(evidence('W-1', [attempt()]));
  const told = (error: string, actsKnown = 0) => ({
    subject: subjects.deadLetter('default', 'W-1'),
    payload: encodeRecord({
      v: 1,
      events: [
        {
          type: 'headway.message.dead-lettered',
          id: `poisoned ${error}`,
          data: {
            reader: 'classifier',
            stream: 'EVIDENCE',
            generation: 1,
            sequence: poisoned,
            subject: subjects.evidence('default', 'W-1'),
            error,
            actsKnown,
          },
        },
      ],
    }),
  });
  await on.say(told('cannot be folded'));
  await on.settled();
  const letter = `/v1/deadletters/classifier-EVIDENCE-1-${poisoned}`;
  expect((await get<DeadLetterView>(letter)).body).toMatchObject({
    error: 'cannot be folded',
    state: 'open',
    work: 'W-1',
  });
  expect((await get<Problem>(`/v1/works/W-1?after=EVIDENCE:1:${poisoned}`)).body.code).toBe('work_held');
  const fleet = await get<Page<WorkView>>(`/v1/works?after=EVIDENCE:1:${poisoned}`);
  expect(fleet.body.items.map(({ work }) => work)).toEqual(['W-1']);
  const retried = await act(`${letter}/retry`, { why: 'a new version runs' });
  expect((await get<DeadLetterView>(`${letter}?after=${retried.body.position}`)).body.state).toBe('retried');
  await on.say(told('still not', 1));
  await on.settled();
  expect((await get<DeadLetterView>(letter)).body).toMatchObject({ error: 'still not', state: 'open', attempts: 2 });

  // Heard of before the retry that caused it is read: the later act closes nothing.
  await on.endProjecting();
  await on.say(told('not this time either', 2));
  await on.say({
    subject: subjects.act('default'),
    payload: encodeRecord({
      v: 1,
      events: [
        {
          type: 'headway.dead-letter.retried',
          id: 'the second retry',
          time: '2026-01-01T00:00:00Z',
          by: 'operator',
          why: 'test',
          data: { letter: `classifier-EVIDENCE-1-${poisoned}` },
        },
      ],
    }),
  });
  const later = await api(on);
  await on.settled();
  expect((await later.get<DeadLetterView>(letter)).body).toMatchObject({ state: 'open', attempts: 3 });
});

test('a tenant whose signals stand still does not count as signalled beyond that, and the others do', async () => {
  const on = await rig();
  await api(on);
  const subject = subjects.trajectory('default', 'W-1');
  const data = {
    reader: 'signaller' as const,
    stream: 'RECORD',
    generation: 1,
    sequence: 5,
    subject,
    error: 'x',
    actsKnown: 0,
  };
  await on.say(
    {
      subject: subjects.deadLetter('default', 'W-1'),
      payload: encodeRecord({ v: 1, events: [{ type: 'headway.message.dead-lettered', id: 'held', data }] }),
    },
    signallerAt(9),
  );
  await on.settled();
  expect(await on.model.views.signalledUpTo('default')).toBe(4);
  expect(await on.model.views.signalledUpTo('another')).toBe(9);
});

test('only an operator retries and drops, with a reason, what is there', async () => {
  const on = await rig();
  const { act, get } = await api(on);
  await on.say(ofTheFuture('W-1', [attempt()]));
  await on.settled();
  const letter = '/v1/deadletters/projection-EVIDENCE-1-1';
  expect(await act(`${letter}/drop`, { why: 'x' }, null)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(await act(`${letter}/drop`, {})).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
  expect(await act(`${letter}/drop`, { why: '  ' })).toMatchObject({ status: 400, body: { pointer: '/why' } });
  expect(await act('/v1/deadletters/projection-EVIDENCE-1-9/drop', { why: 'x' })).toMatchObject({
    status: 404,
    body: { code: 'letter_not_found' },
  });
  expect((await act('/v1/deadletters/nonsense/retry', { why: 'x' })).body.code).toBe('letter_not_found');
  expect((await get<Page<DeadLetterView>>('/v1/deadletters')).body.items).toMatchObject([{ state: 'open' }]);
  await eventually(async () => (await on.log.describe('ACTS')).lastSequence === 0);
});

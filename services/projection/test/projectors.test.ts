import { subjects } from '@headway/contracts';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { applyEvidence } from '../src/apply/evidence.ts';
import { applyRecord } from '../src/apply/record.ts';
import { decode } from '../src/decode.ts';
import { createProjection } from '../src/reader.ts';
import { assessed, assessment, attempt, evidence, fact, raised, signallerAt, signals, trajectory } from './records.ts';
import { type Rig, startRig } from './rig.ts';

let server: TestPostgres;
const rigs: Rig[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});
afterAll(async () => {
  await server?.stop();
});

async function rig(): Promise<Rig> {
  const started = await startRig(server);
  rigs.push(started);
  return started;
}

/** All messages of a stream, given to the projection in one batch, twice. */
async function deliverTwice({ log, model }: Rig): Promise<void> {
  for (const [stream, apply] of [
    ['EVIDENCE', applyEvidence],
    ['RECORD', applyRecord],
  ] as const) {
    const { lastSequence, created } = await log.describe(stream);
    if (lastSequence === 0) continue;
    const messages = [];
    for (let at = 1; at <= lastSequence; at += 1) messages.push((await log.at(stream, at)) ?? expect.fail('a gap'));
    const from = await model.writer.place('projection', stream);
    const projection = createProjection({
      writer: model.writer,
      stream,
      created,
      from,
      apply: (changes, batch) => apply(changes, batch, decode),
      onCommit: () => {},
    });
    expect(await projection.project(messages)).toEqual({ outcome: 'projected' });
    expect(await projection.project(messages)).toEqual({ outcome: 'projected' });
  }
}

const timelineOf = async ({ model }: Rig, work = 'W-1') =>
  (await model.views.listTimeline({ tenant: 'default', work, after: null, newestFirst: false, limit: 100 })).rows;

describe('evidence', () => {
  test('becomes a work, and each event stands in the timeline once though delivered twice', async () => {
    const on = await rig();
    const claim = fact('headway.work.claimed', { worker: 'w', orchestrator: 'o', lane: 'l', criteria: ['all green'] });
    const note = fact(
      'headway.checkpoint.recorded',
      { by: 'worker', note: 'half way' },
      { time: '2026-01-01T00:00:00Z' },
    );
    const costs = [0.25, null, 0.5].map((costUsd) => fact('headway.usage.recorded', { costUsd }));
    await on.say(evidence('W-1', [claim, note]), evidence('W-1', costs));
    await deliverTwice(on);
    expect(await on.model.views.findWork('default', 'W-1')).toMatchObject({
      worker: 'w',
      orchestrator: 'o',
      lane: 'l',
      incarnation: 1,
      criteria: ['all green'],
      checkpoint: { by: 'worker', note: 'half way', sequence: 1, time: '2026-01-01T00:00:00Z' },
      costUsd: 0.75,
      firstSequence: 1,
      lastSequence: 2,
      class: 'unknown',
    });
    expect((await timelineOf(on)).map(({ id, sequence }) => [id, sequence])).toEqual([
      [claim.id, 1],
      [note.id, 1],
      ...costs.map(({ id }) => [id, 2]),
    ]);
  });

  test('an identity that stands already changes nothing, whatever it says', async () => {
    const on = await rig();
    const first = fact('headway.usage.recorded', { costUsd: 1 }, { id: 'same' });
    const again = fact('headway.usage.recorded', { costUsd: 5 }, { id: 'same' });
    await on.say(evidence('W-1', [first, first]), evidence('W-1', [again]), evidence('W-2', [again]));
    await deliverTwice(on);
    expect((await on.model.views.findWork('default', 'W-1'))?.costUsd).toBe(1);
    expect(await on.model.views.findWork('default', 'W-2')).toBeNull();
    expect(await timelineOf(on)).toHaveLength(1);
  });

  test('a cost nobody measured is not known, and never 0', async () => {
    const on = await rig();
    await on.say(evidence('W-1', [fact('headway.usage.recorded', { costUsd: null, reason: 'no meter' })]));
    await deliverTwice(on);
    expect((await on.model.views.findWork('default', 'W-1'))?.costUsd).toBeNull();
  });

  test('of an older incarnation is kept and changes nothing about the newer one', async () => {
    const on = await rig();
    const old = { incarnation: 1 };
    await on.say(
      evidence('W-1', [
        fact('headway.work.claimed', { worker: 'first' }),
        fact('headway.work.claimed', { worker: 'second' }),
      ]),
      evidence('W-1', [
        fact('headway.checkpoint.recorded', { by: 'worker', note: 'late' }, old),
        fact('headway.work.claimed', { worker: 'late' }, old),
      ]),
    );
    await deliverTwice(on);
    expect(await on.model.views.findWork('default', 'W-1')).toMatchObject({
      worker: 'second',
      incarnation: 2,
      checkpoint: null,
    });
    expect((await timelineOf(on)).map(({ incarnation }) => incarnation)).toEqual([1, 2, 1, 1]);
  });

  test('a message that cannot be read is archived and noted, and the others go on', async () => {
    const on = await rig();
    const broken = Buffer.from('{"v":1,"events":[');
    await on.say(
      { subject: subjects.evidence('default', 'W-1'), payload: broken },
      { subject: subjects.evidence('default', 'W-2'), payload: Buffer.from([0xff, 0xfe]) },
      { subject: subjects.evidence('default', 'W-3'), payload: Buffer.from('{"v":2}') },
      { subject: 'evidence.99.default.W-1', payload: Buffer.from('{}') },
      { subject: subjects.tick(0), payload: Buffer.from('{"v":1,"events":[]}') },
      evidence('W-4', [attempt()]),
    );
    await deliverTwice(on);
    const letters = await on.sql<{ sequence: string; error: string }>(
      'select * from headway.dead_letters order by sequence',
    );
    expect(letters.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4]);
    expect(letters[0]?.error).toContain('not JSON');
    expect(await timelineOf(on, 'W-4')).toHaveLength(1);
    const archived = await on.sql<{ payload: Buffer }>('select payload from headway.archive order by sequence');
    expect(archived).toHaveLength(6);
    expect(archived[0]?.payload.equals(broken)).toBe(true);
  });

  test('data that a projector cannot bear is set aside alone', async () => {
    const on = await rig();
    const hostile = fact('headway.work.claimed', { worker: 'w' }, { incarnation: 1e30 });
    await on.say(evidence('W-1', [attempt()]), evidence('W-2', [hostile]), evidence('W-3', [attempt()]));
    await deliverTwice(on);
    const letters = await on.sql<{ sequence: string }>('select * from headway.dead_letters');
    expect(letters.map(({ sequence }) => Number(sequence))).toEqual([2]);
    expect(await timelineOf(on, 'W-1')).toHaveLength(1);
    expect(await timelineOf(on, 'W-3')).toHaveLength(1);
    expect(await on.sql('select * from headway.archive')).toHaveLength(3);
  });
});

describe('records', () => {
  test('give the work its class, since the evidence with which it began, and a line only where it turned', async () => {
    const on = await rig();
    const times = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z'];
    const tries = times.map((time) => attempt({ time }));
    const [first, second, third] = tries as [(typeof tries)[0], (typeof tries)[0], (typeof tries)[0]];
    await on.say(...tries.map((event) => evidence('W-1', [event])));
    await on.say(
      trajectory('W-1', 1, [assessed('W-1', first, assessment('nothing-fired', { attempts: 1 }))]),
      trajectory('W-1', 3, [
        assessed('W-1', second, assessment('same-failure', { attempts: 2 })),
        assessed('W-1', third, assessment('same-failure', { attempts: 3 })),
      ]),
    );
    await deliverTwice(on);
    expect(await on.model.views.findWork('default', 'W-1')).toMatchObject({
      class: 'stagnating',
      rule: 'same-failure',
      since: times[1],
      sinceSequence: 2,
      attempts: 3,
      covered: 3,
      coveredBy: 2,
    });
    const turns = (await timelineOf(on)).filter(({ kind }) => kind === 'assessment');
    expect(turns.map(({ id }) => id)).toEqual([`a-${first.id}`, `a-${second.id}`]);
  });

  test('open, share and close signals, and point each work to the one that concerns it', async () => {
    const on = await rig();
    await on.say(evidence('W-1', [attempt()]), evidence('W-2', [attempt()]), evidence('W-3', [attempt()]));
    const open = async (work: string) => (await on.model.views.findWork('default', work))?.openSignal;

    await on.say(signals(1, [raised('s-1', ['W-1'])]), signallerAt(1));
    await deliverTwice(on);
    expect(await open('W-1')).toBe('s-1');

    await on.say(
      signals(3, [
        raised('shared', ['W-1', 'W-2'], { kind: 'shared-failure', incarnation: null, rule: null }),
        {
          type: 'headway.signal.superseded',
          id: 'x-1',
          data: { signal: 's-1', kind: 'stagnating', works: ['W-1'], by: 'shared' },
        },
        { type: 'headway.signal.joined', id: 'x-2', data: { signal: 'shared', work: 'W-3' } },
        { type: 'headway.signal.left', id: 'x-3', data: { signal: 'shared', work: 'W-2' } },
      ]),
    );
    await deliverTwice(on);
    expect([await open('W-1'), await open('W-2'), await open('W-3')]).toEqual(['shared', null, 'shared']);
    expect(await on.model.views.findSignal('default', 's-1')).toMatchObject({
      state: 'superseded',
      closing: { by: 'shared' },
      works: ['W-1'],
    });

    await on.say(
      signals(4, [
        {
          type: 'headway.signal.acknowledged',
          id: 'x-4',
          data: {
            signal: 'shared',
            kind: 'shared-failure',
            works: ['W-1', 'W-3'],
            incarnations: [1, 1],
            intent: 'AGREE',
            from: 'o',
          },
        },
      ]),
      signallerAt(4),
    );
    await deliverTwice(on);
    expect([await open('W-1'), await open('W-3')]).toEqual([null, null]);
    expect(await on.model.views.findSignal('default', 'shared')).toMatchObject({
      state: 'acknowledged',
      closing: { intent: 'AGREE', from: 'o' },
      works: ['W-1', 'W-3'],
    });
    expect(await on.model.views.signalledUpTo('default')).toBe(4);
    const told = (await timelineOf(on)).filter(({ kind }) => kind === 'signal').map(({ type }) => type);
    expect(told).toEqual([
      'headway.signal.raised',
      'headway.signal.raised',
      'headway.signal.superseded',
      'headway.signal.acknowledged',
    ]);
  });
});

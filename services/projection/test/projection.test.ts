import { subjects } from '@headway/contracts';
import { type ArchivedMessage, openPool, readModelOver } from '@headway/readmodel';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { applyEvidence } from '../src/apply/evidence.ts';
import { applyRecord } from '../src/apply/record.ts';
import { decode } from '../src/decode.ts';
import { createProjection } from '../src/reader.ts';
import { assessed, assessment, attempt, evidence, fact, raised, signallerAt, signals, trajectory } from './records.ts';
import { contents, emptyTables, type Rig, startRig } from './rig.ts';

let server: TestPostgres;
const rigs: Rig[] = [];
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});
afterAll(async () => {
  await server?.stop();
});

async function rig(...options: [Parameters<typeof startRig>[1]?]): Promise<Rig> {
  const started = await startRig(server, ...options);
  rigs.push(started);
  return started;
}

const timelineOf = async ({ model }: Rig, work = 'W-1') =>
  (await model.views.listTimeline({ tenant: 'default', work, after: null, newestFirst: false, limit: 100 })).rows;

async function archivedEffects({ model }: Rig): Promise<ArchivedMessage[]> {
  const archived: ArchivedMessage[] = [];
  for await (const message of model.readArchive('EFFECTS')) archived.push(message);
  return archived;
}

/** A small history with a bit of everything. */
async function history({ say }: Rig): Promise<void> {
  const claim = fact('headway.work.claimed', { worker: 'w', orchestrator: 'o' });
  const tries = [attempt(), attempt(), attempt()];
  await say(
    evidence('W-1', [claim, ...tries]),
    evidence('W-2', [attempt()]),
    { subject: subjects.evidence('default', 'W-3'), payload: Buffer.from('nonsense') },
    evidence('W-1', [claim]),
  );
  await say(
    trajectory('W-1', 4, [assessed('W-1', tries[2] ?? claim, assessment('same-failure'))]),
    signals(1, [raised('s-1', ['W-1'])]),
    signallerAt(2),
  );
}

test('transitions of effects are kept byte for byte and in order, whatever is in them', async () => {
  const one = await rig();
  const transitions = [
    {
      subject: subjects.effect('default', 'op-1'),
      payload: Buffer.from('{"v":1,"version":1,"entry":"admitted"}'),
      messageId: 'a',
    },
    { subject: subjects.effect('other', 'op.2'), payload: Buffer.from([0, 255, 10]), headers: { 'x-test': 'yes' } },
    { subject: subjects.effect('default', 'op-1'), payload: Buffer.from(''), messageId: 'b' },
  ];
  await one.say(...transitions);
  one.project();
  await one.settled();
  const archived = await archivedEffects(one);
  expect(archived.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  for (const [at, { subject, payload, messageId }] of transitions.entries())
    expect(archived[at]).toMatchObject({ subject, payload, ...(messageId === undefined ? {} : { messageId }) });
  // Read once more from the stored position, by another process: nothing is doubled.
  await one.endProjecting();
  await one.say({ subject: subjects.effect('default', 'op-3'), payload: Buffer.from('{}') });
  one.project();
  await one.settled();
  expect((await archivedEffects(one)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
});

describe('when the store fails', () => {
  test('at every large transaction, smaller ones get through', async () => {
    const { say, log, model } = await rig();
    await say(...Array.from({ length: 100 }, (_, at) => evidence(`W-${at}`, [attempt()])));
    const { created } = await log.describe('EVIDENCE');
    const messages = [];
    for (let at = 1; at <= 100; at += 1) messages.push((await log.at('EVIDENCE', at)) ?? expect.fail('a gap'));
    const sizes: number[] = [];
    const projection = createProjection({
      writer: model.writer,
      stream: 'EVIDENCE',
      created,
      from: await model.writer.place('projection', 'EVIDENCE'),
      apply: async (changes, some) => {
        sizes.push(some.length);
        if (some.length > 30) throw new Error('terminating connection due to idle-in-transaction timeout');
        await applyEvidence(changes, some, decode);
      },
      onCommit: () => undefined,
    });
    for (let tries = 0; projection.place().sequence < 100; tries += 1) {
      expect(tries).toBeLessThan(10);
      await projection.project(messages).catch(() => undefined);
    }
    expect(sizes.slice(0, 3)).toEqual([100, 50, 25]);
  });

  test('at any statement, the batch is tried again and the rows are those of a run without a failure', async () => {
    const calm = await rig();
    await history(calm);
    calm.project();
    await calm.settled();
    const expected = await contents(calm);

    let statements = 0;
    let failAt = 0;
    let failAfter = false;
    const on = await rig({
      model: (url) =>
        readModelOver({
          pool: failing(url, async (run) => {
            statements += 1;
            if (statements !== failAt) return run();
            if (failAfter) await run();
            throw new Error('the connection broke');
          }),
        }),
    });
    await history(on);
    const replay = async () => {
      await emptyTables(on);
      statements = 0;
      await deliverAll(on);
      return statements;
    };
    const inAll = await replay();
    expect(inAll).toBeGreaterThan(20);
    for (failAfter of [false, true])
      for (failAt = 1; failAt <= inAll; failAt += 1) {
        await replay();
        expect(withoutTimes(await contents(on)), `statement ${failAt}`).toEqual(withoutTimes(expected));
      }
  });

  test('and comes back, everything that was said meanwhile is projected', async () => {
    const on = await rig();
    const projecting = on.project();
    await on.say(evidence('W-1', [attempt()]));
    await on.settled();
    await server.restart();
    await on.say(evidence('W-1', [attempt()]), evidence('W-2', [attempt()]));
    await on.settled();
    expect(await timelineOf(on, 'W-1')).toHaveLength(2);
    expect(await timelineOf(on, 'W-2')).toHaveLength(1);
    await eventually(() => projecting.evidence.state().heldUp === null, { what: 'getting on' });
  });
});

describe('several projections of one store', () => {
  test('together write what one writes', async () => {
    const on = await rig();
    for (let at = 0; at < 60; at += 1) await on.say(evidence(`W-${at % 7}`, [attempt(), attempt()]));
    on.project();
    on.project();
    on.project();
    for (let at = 0; at < 60; at += 1) await on.say(evidence(`W-${at % 7}`, [attempt()]));
    await on.settled();
    const [counted] = await on.sql<{ n: string }>('select count(*) as n from headway.timeline');
    expect(Number(counted?.n)).toBe(180);
    expect(await on.sql('select from headway.archive')).toHaveLength(120);
  });
});

describe('a log that is not the one of the archive', () => {
  test('of a new generation is read from its beginning, beside what was archived', async () => {
    const on = await rig();
    on.project();
    await on.say(evidence('W-1', [attempt()]), evidence('W-1', [attempt()]));
    await on.settled();
    on.streams.recreate('EVIDENCE');
    await on.say(evidence('W-1', [attempt()]));
    await on.settled();
    const archived = await on.sql<{ generation: number; sequence: string }>(
      'select generation, sequence from headway.archive order by generation, sequence',
    );
    expect(archived.map(({ generation, sequence }) => [generation, Number(sequence)])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
  });

  test('that lost its tail is not read on: the service says so and is not ready', async () => {
    const on = await rig();
    await on.say(evidence('W-1', [attempt()]));
    await on.sql(
      `insert into headway.positions (reader, stream, generation, sequence) values ('projection', 'EVIDENCE', 1, 7)`,
    );
    const projecting = on.project();
    await eventually(() => projecting.evidence.state().heldUp, { what: 'the reason' });
    expect(await projecting.checks.evidence?.()).toMatchObject({
      ready: false,
      reason: 'EVIDENCE ends at 1, before the archive at 7',
    });
  });
});

/** A pool whose statements go through `around`. */
function failing(url: string, around: (run: () => Promise<unknown>) => Promise<unknown>) {
  const pool = openPool({ url, connections: 2, name: 'faults' });
  return {
    options: {},
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      return {
        query: (text: string, values: readonly unknown[]) => around(() => client.query(text, [...values])),
        release: (broken?: boolean) => client.release(broken),
      };
    },
  } as unknown as Parameters<typeof readModelOver>[0]['pool'];
}

/** Delivers both streams message by message; what fails is delivered again, as after a restart. */
async function deliverAll({ log, model }: Rig): Promise<void> {
  for (const [stream, apply] of [
    ['EVIDENCE', applyEvidence],
    ['RECORD', applyRecord],
  ] as const) {
    const { lastSequence, created } = await log.describe(stream);
    const messages = [];
    for (let at = 1; at <= lastSequence; at += 1) messages.push((await log.at(stream, at)) ?? expect.fail('a gap'));
    for (let done = false, tries = 0; !done; tries += 1) {
      expect(tries).toBeLessThan(3);
      try {
        const from = await model.writer.place('projection', stream);
        const projection = createProjection({
          writer: model.writer,
          stream,
          created,
          from,
          apply: (changes, batch) => apply(changes, batch, decode),
          onCommit: () => {},
        });
        await projection.project(messages);
        done = true;
      } catch (error) {
        expect(String(error)).toContain('the connection broke');
      }
    }
  }
}

/** Two rigs say the same history at different times, under different event ids. */
function withoutTimes(all: unknown): unknown {
  return JSON.parse(JSON.stringify(all), (name, value: unknown) =>
    ['recorded_at', 'updated_at', 'raised_at', 'closed_at', 'payload', 'key', 'content', 'id'].includes(name)
      ? '-'
      : value,
  );
}

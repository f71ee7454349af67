import { emptyLedger } from '@headway/contracts';
import {
  ARCHIVE_READER,
  type ArchivedMessage,
  migrate,
  nowhere,
  openReadModel,
  type ReadModel,
  type WorkRow,
} from '@headway/readmodel';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { migrations } from '../src/migrations/index.ts';

let server: TestPostgres;
let model: ReadModel;
let admin: pg.Client;

beforeAll(async () => {
  server = await startPostgres();
  await migrate(server.url);
  model = openReadModel({ url: server.url });
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await model?.close();
  await admin?.end();
  await server?.stop();
});
afterEach(async () => {
  await admin.query(`truncate headway.positions, headway.archive, headway.identities, headway.dead_letters, headway.works,
    headway.timeline, headway.signals, headway.signal_members, headway.signal_coverage`);
});

const key = (n: number) => n.toString(16).padStart(64, '0');
const message = (sequence: number, payload: Uint8Array, headers: Record<string, string> = {}): ArchivedMessage => ({
  stream: 'EVIDENCE',
  generation: 1,
  sequence,
  subject: `evidence.0.default.W-${sequence}`,
  headers,
  payload,
  recordedAt: Date.parse('2026-01-02T03:04:05.678Z'),
});
const to = (sequence: number) => ({ generation: 1, sequence, created: '2026-01-01T00:00:00Z' });
const step = (from: { generation: number; sequence: number }, sequence: number) => ({
  reader: ARCHIVE_READER,
  stream: 'EVIDENCE',
  from,
  to: to(sequence),
});
const collect = async <Item>(items: AsyncIterable<Item>) => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};
const work = (id: string, change: number, over: Partial<WorkRow> = {}): WorkRow => ({
  tenant: 'default',
  work: id,
  worker: null,
  orchestrator: null,
  lane: null,
  base: null,
  incarnation: 0,
  criteria: [],
  checkpoint: null,
  costUsd: null,
  ledger: emptyLedger,
  doneAt: null,
  firstSequence: 1,
  lastSequence: 1,
  class: 'unknown',
  rule: null,
  assessment: null,
  since: null,
  sinceSequence: null,
  attempts: 0,
  covered: 0,
  coveredBy: 0,
  openSignal: null,
  updatedAt: 0,
  change,
  ...over,
});

describe('migrations', () => {
  test('a second run, and several at once, apply nothing more', async () => {
    expect(await migrate(server.url)).toEqual([]);
    expect(await Promise.all([migrate(server.url), migrate(server.url), migrate(server.url)])).toEqual([[], [], []]);
  });

  test('several at once on an empty database apply each migration once', async () => {
    await admin.query('create database together');
    const url = server.url.replace(/\/[^/]*$/, '/together');
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(applied.flat().sort()).toEqual(Object.keys(migrations).sort());
  });
});

describe('the archive', () => {
  test('keeps subject, headers and payload byte for byte and gives them back in order', async () => {
    const everyByte = Uint8Array.from({ length: 256 }, (_, at) => at);
    const messages = [
      message(1, everyByte, { 'Nats-Msg-Id': 'a"b\\c', traceparent: '00-ä' }),
      { ...message(2, new Uint8Array()), messageId: 'm-2' },
      message(3, everyByte.slice(10, 20)),
    ];
    await model.writer.advance(step(nowhere, 3), (changes) => changes.archive(messages));
    const kept = await collect(model.readArchive('EVIDENCE'));
    expect(kept.map(({ payload, ...rest }) => ({ ...rest, payload: [...payload] }))).toEqual(
      messages.map(({ payload, ...rest }) => ({ ...rest, payload: [...payload] })),
    );
    const later = await collect(model.readArchive('EVIDENCE', { generation: 1, sequence: 2 }));
    expect(later.map(({ sequence }) => sequence)).toEqual([3]);
  });

  test('more than one page comes complete and in order', async () => {
    const many = Array.from({ length: 1_203 }, (_, at) => message(at + 1, Buffer.from(`${at}`)));
    await model.writer.advance(step(nowhere, 1_203), (changes) => changes.archive(many));
    const kept = await collect(model.readArchive('EVIDENCE'));
    expect(kept.map(({ sequence }) => sequence)).toEqual(many.map(({ sequence }) => sequence));
  });
});

describe('a position', () => {
  test('moves only from where it is expected; the second writer is fenced and leaves nothing behind', async () => {
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(() =>
        model.writer.advance(step(nowhere, 1), (changes) => changes.archive([message(1, Buffer.from('x'))])),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['advanced', 'fenced', 'fenced', 'fenced']);
    expect(outcomes.find(({ outcome }) => outcome === 'fenced')).toMatchObject({ at: { generation: 1, sequence: 1 } });
    expect(await collect(model.readArchive('EVIDENCE'))).toHaveLength(1);
    expect(await model.identities.archived()).toEqual({ generation: 1, sequence: 1 });
  });

  test('does not move when the rows could not be written', async () => {
    const failing = model.writer.advance(step(nowhere, 1), async (changes) => {
      await changes.archive([message(1, Buffer.from('x'))]);
      throw new Error('the lights went out');
    });
    await expect(failing).rejects.toThrow('the lights went out');
    expect(await model.identities.archived()).toEqual({ generation: 0, sequence: 0 });
    expect(await collect(model.readArchive('EVIDENCE'))).toEqual([]);
  });

  test('change numbers grow in the order of the commits, across readers', async () => {
    const numbers: number[] = [];
    const chain = async (stream: string) => {
      for (let at = 0; at < 20; at += 1) {
        const from = at === 0 ? nowhere : to(at);
        const done = await model.writer.advance(
          { reader: ARCHIVE_READER, stream, from, to: to(at + 1) },
          async (changes) => {
            const before = await model.views.newestChange();
            expect(before).toBeLessThan(changes.change);
          },
        );
        if (done.outcome === 'advanced') numbers.push(done.change);
      }
    };
    await Promise.all([chain('EVIDENCE'), chain('RECORD')]);
    expect(numbers).toHaveLength(40);
    expect(new Set(numbers).size).toBe(40);
  });
});

describe('identities', () => {
  const identity = (n: number, content: number, sequence: number) => ({
    key: key(n),
    content: key(content),
    tenant: 'default',
    work: 'W-1',
    generation: 1,
    sequence,
    reportedAt: null,
  });

  test('the first of a key stands, within one batch and across batches', async () => {
    let taken: ReadonlySet<number> = new Set();
    await model.writer.advance(step(nowhere, 1), async (changes) => {
      taken = await changes.takeIdentities([identity(1, 10, 1), identity(2, 20, 1), identity(1, 11, 1)]);
    });
    expect(taken).toEqual(new Set([0, 1]));
    await model.writer.advance(step(to(1), 2), async (changes) => {
      taken = await changes.takeIdentities([identity(2, 21, 2), identity(3, 30, 2)]);
    });
    expect([...taken]).toEqual([1]);
    const found = await model.identities.lookup([key(1), key(2), key(3), key(4)]);
    expect(Object.fromEntries(found)).toEqual({
      [key(1)]: { content: key(10), sequence: 1 },
      [key(2)]: { content: key(20), sequence: 1 },
      [key(3)]: { content: key(30), sequence: 2 },
    });
  });
});

describe('texts that Postgres cannot hold', () => {
  test('a NUL or half a surrogate pair in a report neither fails the batch nor hides the work', async () => {
    await model.writer.advance(step(nowhere, 1), async (changes) => {
      await changes.saveWorks([work('W\0-1', changes.change, { worker: 'a\0b', criteria: ['\0', '\ud800', '"'] })]);
      await changes.appendTimeline([
        {
          tenant: 'default',
          work: 'W\0-1',
          stream: 'EVIDENCE',
          generation: 1,
          sequence: 1,
          kind: 'evidence',
          type: 't\0',
          id: 'i\ud800',
          incarnation: null,
          time: null,
          recordedAt: 0,
          data: { note: 'x\0y\ud800', '\0': [] },
        },
      ]);
    });
    const found = await model.views.findWork('default', 'W\0-1');
    expect(found).toMatchObject({ worker: 'a\uFFFDb', criteria: ['\0', '\ud800', '"'] });
    const { rows } = await model.views.listTimeline({
      tenant: 'default',
      work: 'W\0-1',
      after: null,
      newestFirst: false,
      limit: 10,
    });
    expect(rows[0]?.data).toEqual({ note: 'x\0y\ud800', '\0': [] });
  });
});

describe('tenants', () => {
  test('never see the works of each other', async () => {
    await model.writer.advance(step(nowhere, 1), (changes) =>
      changes.saveWorks([work('W-1', changes.change), work('W-1', changes.change, { tenant: 'other', worker: 'o' })]),
    );
    expect((await model.views.findWork('default', 'W-1'))?.worker).toBeNull();
    const all = await model.views.listWorks({ tenant: 'other', class: null, after: null, limit: 10 });
    expect(all.rows.map(({ worker }) => worker)).toEqual(['o']);
  });
});

describe('the list of works', () => {
  test('comes red rows first, page by page, each work once', async () => {
    const classes = ['productive', 'slow', 'unknown', 'awaiting-wake', 'stagnating', 'thrashing'] as const;
    await model.writer.advance(step(nowhere, 1), (changes) =>
      changes.saveWorks(
        classes.flatMap((of) => ['a', 'b', 'c'].map((id) => work(`${id}-${of}`, changes.change, { class: of }))),
      ),
    );
    const seen: string[] = [];
    for (let after = null as { rank: number; work: string } | null; ; ) {
      const { rows, next } = await model.views.listWorks({ tenant: 'default', class: null, after, limit: 4 });
      seen.push(...rows.map((row) => row.work));
      if (next === null) break;
      after = next;
    }
    expect(seen).toEqual([...classes].reverse().flatMap((of) => ['a', 'b', 'c'].map((id) => `${id}-${of}`)));
  });
});

test('a lost connection is replaced: the next statement works', async () => {
  await model.ping();
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'headway'`);
  await expect
    .poll(() => model.ping().then(() => 'answers', String), { timeout: 10_000, interval: 20 })
    .toBe('answers');
});

test('a connection lost in the midst of a transaction fails that one and nothing else: not the process', async () => {
  const own = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'headway'`;
  const left = `select count(*)::int as count from pg_stat_activity where application_name = 'headway'`;
  const broken = model.writer.advance(step(nowhere, 1), async () => {
    await admin.query(own);
    await expect.poll(async () => (await admin.query(left)).rows[0].count, { timeout: 10_000 }).toBe(0);
  });
  await expect(broken).rejects.toThrow();
  await expect
    .poll(() => model.ping().then(() => 'answers', String), { timeout: 10_000, interval: 20 })
    .toBe('answers');
});

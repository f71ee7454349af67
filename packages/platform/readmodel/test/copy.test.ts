import { randomBytes } from 'node:crypto';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ArchivedMessage,
  isDataRefusal,
  isStoreAway,
  migrate,
  nowhere,
  openPool,
  openReadModel,
  type ReadModel,
} from '../src/index.ts';

let server: TestPostgres;
let model: ReadModel;
beforeAll(async () => {
  server = await startPostgres();
  await migrate(server.url);
  // One connection, so that a statement after a failure shows that the connection is as good as before.
  model = openReadModel({ url: server.url, connections: 1 });
});
afterAll(async () => {
  await model?.close();
  await server?.stop();
});

const message = (sequence: number, over: Partial<ArchivedMessage> = {}): ArchivedMessage => ({
  stream: 'EVIDENCE',
  generation: 1,
  sequence,
  subject: 'evidence.1.default.W-1',
  headers: {},
  payload: Buffer.from(`payload ${sequence}`),
  recordedAt: 1_790_000_000_000 + sequence,
  ...over,
});

async function archive(stream: string, messages: readonly ArchivedMessage[]) {
  const from = await model.writer.place('projection', stream);
  const last = messages.at(-1) as ArchivedMessage;
  const to = { generation: last.generation, sequence: last.sequence, created: 'now' };
  return model.writer.advance({ reader: 'projection', stream, from, to }, (changes) => changes.archive(messages));
}

async function archived(stream: string): Promise<ArchivedMessage[]> {
  const found: ArchivedMessage[] = [];
  for await (const one of model.readArchive(stream)) found.push(one);
  return found;
}

test('every value that a row may hold comes back as it was, from rows of no bytes to rows above a megabyte', async () => {
  const told = [
    message(1, { payload: Buffer.alloc(0), subject: '', headers: {} }),
    message(2, { payload: randomBytes(1_500_000), messageId: 'a "quoted" \\ id\n\t' }),
    message(3, { subject: 'ünïcode 日本 👩‍🚀 \\N', headers: { a: '\\.', b: '\u2028', 'c\\d': '"' } }),
    message(2 ** 31, { generation: 2 ** 31 - 1, recordedAt: 0 }),
    message(2 ** 31 + 1, { generation: 2 ** 31 - 1, recordedAt: Date.UTC(1999, 11, 31, 23, 59, 59, 999) }),
    message(2 ** 53 - 1, { generation: 2 ** 31 - 1, recordedAt: Date.UTC(9_999, 11, 31) }),
    ...Array.from({ length: 3_000 }, (_, at) =>
      message(at + 1, { generation: 2 ** 31 - 1, payload: randomBytes(at % 97), stream: 'EVIDENCE' }),
    ),
  ].sort((a, b) => a.generation - b.generation || a.sequence - b.sequence);
  expect((await archive('EVIDENCE', told)).outcome).toBe('advanced');
  const found = await archived('EVIDENCE');
  expect(found).toHaveLength(told.length);
  for (const [at, one] of told.entries())
    expect({ ...found[at], payload: Buffer.from(found[at]?.payload ?? []) }).toEqual(one);
});

test.each([
  ['a sequence that is no whole number', { sequence: 1.5 }, RangeError],
  ['a generation above what the column holds', { generation: 2 ** 31 }, RangeError],
  ['a time that is none', { recordedAt: Number.NaN }, RangeError],
])('%s is refused before it is written, and nothing of the batch is', async (_, over, kind) => {
  const batch = [
    ...Array.from({ length: 2_000 }, (__, at) => message(at + 1, { stream: 'RECORD' })),
    message(2_001, over),
  ];
  const step = {
    reader: 'projection',
    stream: 'RECORD',
    from: nowhere,
    to: { generation: 1, sequence: 2_001, created: 'now' },
  };
  await expect(model.writer.advance(step, (changes) => changes.archive(batch))).rejects.toBeInstanceOf(kind);
  expect(await archived('RECORD')).toEqual([]);
  expect(await model.writer.place('projection', 'RECORD')).toEqual(nowhere);
});

test('what the table refuses in the midst of many rows is told as data that was refused, and nothing of it is written', async () => {
  const batch = Array.from({ length: 20_000 }, (_, at) => message(at === 3_000 ? 3_000 : at + 1, { stream: 'ACTS' }));
  const failed = await archive('ACTS', batch).catch((error: unknown) => error);
  expect(isDataRefusal(failed)).toBe(true);
  expect(await archived('ACTS')).toEqual([]);
  expect((await archive('ACTS', batch.slice(0, 10))).outcome).toBe('advanced');
  expect(await archived('ACTS')).toHaveLength(10);
});

test('a connection that is lost in the midst of a COPY is told as a store that is away, and the next try works', async () => {
  const killer = openPool({ url: server.url, connections: 1, name: 'killer' });
  const kill = () =>
    killer.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'headway'`);
  let killed: Promise<unknown> | undefined;
  const batch = Array.from({ length: 20_000 }, (_, at) =>
    message(at + 1, { stream: 'EFFECTS', payload: randomBytes(2_000) }),
  );
  const deadly: ArchivedMessage = {
    ...message(11, { stream: 'EFFECTS' }),
    get payload() {
      killed ??= kill();
      return Buffer.from('x');
    },
  };
  const failed = await archive('EFFECTS', [...batch.slice(0, 10), deadly, ...batch.slice(11)]).catch(
    (error: unknown) => error,
  );
  await killed;
  await killer.end();
  expect(isStoreAway(failed)).toBe(true);
  expect(await archived('EFFECTS')).toEqual([]);
  expect((await archive('EFFECTS', batch.slice(0, 10))).outcome).toBe('advanced');
});

test('who stands still in the middle of a COPY keeps others waiting for a limited time', async () => {
  const standing = new pg.Client({ connectionString: server.url });
  standing.on('error', () => undefined);
  await standing.connect();
  await standing.query('begin');
  await standing.query('update headway.changes set change = change + 1');
  // Its data never come, as of a process that was stopped.
  const copying = standing.query(from('copy headway.archive from stdin'));
  copying.on('error', () => undefined);
  copying.write('1');
  const refusal = await archive('STANDING', [message(1, { stream: 'STANDING' })]).then(
    () => null,
    (error: unknown) => error,
  );
  expect(isStoreAway(refusal)).toBe(true);
  expect((await archive('STANDING', [message(1, { stream: 'STANDING' })])).outcome).toBe('advanced');
  await standing.end().catch(() => undefined);
}, 120_000);

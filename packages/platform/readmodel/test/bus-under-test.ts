/** A bus and an archive of their own for the tests that take messages away and put them back. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeRecord, identityKey, type PolicySet, type StreamName, subjects } from '@headway/contracts';
import { type Bus, connectBus, DECLARED_STREAMS, type LogMessage } from '@headway/eventlog';
import { ARCHIVE_READER, createLevel, migrate, openReadModel, planRestore, type ReadModel } from '@headway/readmodel';
import { eventually, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

export const HOUR = 3_600_000;

export let nats: TestNats;
let postgres: TestPostgres;
let admin: pg.Client;
export let bus: Bus;
export let model: ReadModel;
const copies: string[] = [];
beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNats({ own: true }), startPostgres()]);
  admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
});
afterAll(async () => {
  await model?.close();
  await bus?.close();
  await admin?.end();
  await Promise.all([nats?.stop(), postgres?.stop()]);
  await Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true })));
});

const newBus = () => connectBus({ servers: nats.url, name: 'bus test' });
/** As a process that starts now: it knows nothing of what was there before. */
export async function reconnect(): Promise<void> {
  await bus.close();
  bus = await newBus();
}
let databases = 0;
beforeEach(async () => {
  await model?.close();
  await bus?.close();
  bus = await newBus();
  for (const { name } of DECLARED_STREAMS) {
    await bus.remake(name, 1, 0);
    await bus.mark(name, 1, false);
  }
  await bus.close();
  bus = await newBus();
  databases += 1;
  await admin.query(`create database bus_${databases}`);
  const url = postgres.url.replace(/\/[^/]*$/, `/bus_${databases}`);
  await migrate(url);
  model = openReadModel({ url, connections: 4 });
});

/** A copy of the server's data as they are now. */
export async function copyOfData(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'headway-nats-copy-'));
  copies.push(copy);
  await nats.kill9();
  await cp(join(nats.dataDir as string, 'store'), copy, { recursive: true });
  await nats.restart();
  await eventually(async () => bus.describe('EVIDENCE'), { within: 20_000 });
  return copy;
}

export async function goBackTo(copy: string): Promise<void> {
  await nats.kill9();
  await rm(join(nats.dataDir as string, 'store'), { recursive: true });
  await cp(copy, join(nats.dataDir as string, 'store'), { recursive: true });
  await nats.restart();
  await eventually(async () => bus.describe('EVIDENCE'), { within: 20_000 });
}

export const parts = () => ({
  bus,
  records: model.bus,
  readArchive: model.readArchive,
  findIdentities: model.findIdentities,
  // No service is running that could note something.
  noticeMs: 0,
});
export const level = () => createLevel({ log: bus.log, streams: ['EVIDENCE', 'RECORD'], records: model.bus }).check();

export const event = (id: string, work: string) => ({
  specversion: '1.0' as const,
  id,
  source: 'test',
  subject: work,
  type: 'headway.checkpoint.recorded' as const,
  data: { by: 'worker' as const, note: id },
});
export const policySet = (version: number): PolicySet => ({
  specversion: '1.0',
  id: `policy ${version}`,
  source: 'test',
  type: 'headway.policy.set',
  time: '2026-01-01T00:00:00Z',
  data: { version, lane: null, numbers: { sameFailure: version + 2 }, by: 'ana', why: 'a test' },
});
export const content = (id: string) => Buffer.from(id).toString('hex').padEnd(64, '0').slice(0, 64);

/** Appends one commit with one event to EVIDENCE. */
export async function report(id: string, work = 'W-1') {
  const done = await bus.log.append({
    subject: subjects.evidence('t', work),
    messageId: `m-${id}`,
    headers: { note: `of ${id}` },
    payload: encodeRecord({ v: 1, events: [event(id, work)], contents: [content(id)] }),
  });
  if (done.outcome !== 'appended') throw new Error(done.outcome);
  return done.position.sequence;
}

/** Appends a record of a work that covers evidence up to a sequence. */
export async function record(covered: number, work = 'W-1') {
  const payload = encodeRecord({
    v: 1,
    covered,
    within: 0,
    answered: 0,
    awaits: false,
    events: [],
    state: {},
  });
  const done = await bus.log.append({ subject: subjects.trajectory('t', work), payload });
  if (done.outcome !== 'appended') throw new Error(done.outcome);
}

/** Archives a stream up to a sequence, as the projection does. */
export async function archive(stream: StreamName, upTo = Number.POSITIVE_INFINITY) {
  const from = await model.writer.place(ARCHIVE_READER, stream);
  const now = await bus.log.describe(stream);
  const messages: LogMessage[] = [];
  for await (const message of bus.readToEnd(stream, from.sequence))
    if (message.sequence <= upTo) messages.push(message);
  const last = messages.at(-1);
  if (last === undefined) return;
  const to = { generation: now.generation, sequence: last.sequence, created: now.created };
  const done = await model.writer.advance({ reader: ARCHIVE_READER, stream, from, to }, async (changes) => {
    await changes.archive(messages);
    if (stream !== 'EVIDENCE') return;
    await changes.takeIdentities(
      messages
        .filter(({ subject }) => subject !== 'evidence.gap')
        .flatMap((message) =>
          (
            JSON.parse(Buffer.from(message.payload).toString()) as { events: { id: string; source: string }[] }
          ).events.map((one) => ({
            key: identityKey('t', one),
            content: content(one.id),
            tenant: 't',
            work: 'W-1',
            generation: message.generation,
            sequence: message.sequence,
            reportedAt: null,
          })),
        ),
    );
  });
  expect(done.outcome).toBe('advanced');
}

export const everything = async (stream: StreamName) => {
  const messages: LogMessage[] = [];
  for await (const message of bus.readToEnd(stream, 0)) messages.push(message);
  return messages;
};
export const bare = (messages: readonly LogMessage[]) =>
  messages.map(({ sequence, subject, headers, messageId, payload }) => ({
    sequence,
    subject,
    headers,
    messageId,
    payload: Buffer.from(payload).toString('utf8'),
  }));

export const fate = (generation: number, sequence: number) =>
  model.views.positionFate({ stream: 'EVIDENCE', generation, sequence });
export const found = async () => (await planRestore(parts())).map(({ stream, found: state }) => `${stream} ${state}`);

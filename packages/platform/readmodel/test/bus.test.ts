import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeRecord, identityKey, type PolicySet, type StreamName, subjects } from '@headway/contracts';
import { type Bus, connectBus, DECLARED_STREAMS, type LogMessage } from '@headway/eventlog';
import {
  ARCHIVE_READER,
  createLevel,
  migrate,
  openReadModel,
  planRestore,
  type ReadModel,
  restoreBus,
  trimBus,
} from '@headway/readmodel';
import { eventually, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepPolicies } from '../src/bus/keep-policies.ts';

const HOUR = 3_600_000;

let nats: TestNats;
let postgres: TestPostgres;
let admin: pg.Client;
let bus: Bus;
let model: ReadModel;
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
async function copyOfData(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'headway-nats-copy-'));
  copies.push(copy);
  await nats.kill9();
  await cp(join(nats.dataDir as string, 'store'), copy, { recursive: true });
  await nats.restart();
  await eventually(async () => bus.describe('EVIDENCE'), { within: 20_000 });
  return copy;
}

async function goBackTo(copy: string): Promise<void> {
  await nats.kill9();
  await rm(join(nats.dataDir as string, 'store'), { recursive: true });
  await cp(copy, join(nats.dataDir as string, 'store'), { recursive: true });
  await nats.restart();
  await eventually(async () => bus.describe('EVIDENCE'), { within: 20_000 });
}

const parts = () => ({
  bus,
  records: model.bus,
  readArchive: model.readArchive,
  findIdentities: model.findIdentities,
  // No service is running that could note something.
  noticeMs: 0,
});
const level = () => createLevel({ log: bus.log, streams: ['EVIDENCE', 'RECORD'], records: model.bus }).check();

const event = (id: string, work: string) => ({
  specversion: '1.0' as const,
  id,
  source: 'test',
  subject: work,
  type: 'headway.checkpoint.recorded' as const,
  data: { by: 'worker' as const, note: id },
});
const policySet = (version: number): PolicySet => ({
  specversion: '1.0',
  id: `policy ${version}`,
  source: 'test',
  type: 'headway.policy.set',
  time: '2026-01-01T00:00:00Z',
  data: { version, lane: null, numbers: { sameFailure: version + 2 }, by: 'ana', why: 'a test' },
});
const content = (id: string) => Buffer.from(id).toString('hex').padEnd(64, '0').slice(0, 64);

/** Appends one commit with one event to EVIDENCE. */
async function report(id: string, work = 'W-1') {
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
async function record(covered: number, work = 'W-1') {
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
async function archive(stream: StreamName, upTo = Number.POSITIVE_INFINITY) {
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

const everything = async (stream: StreamName) => {
  const messages: LogMessage[] = [];
  for await (const message of bus.readToEnd(stream, 0)) messages.push(message);
  return messages;
};
const bare = (messages: readonly LogMessage[]) =>
  messages.map(({ sequence, subject, headers, messageId, payload }) => ({
    sequence,
    subject,
    headers,
    messageId,
    payload: Buffer.from(payload).toString('utf8'),
  }));

const fate = (generation: number, sequence: number) =>
  model.views.positionFate({ stream: 'EVIDENCE', generation, sequence });
const found = async () => (await planRestore(parts())).map(({ stream, found: state }) => `${stream} ${state}`);

describe('a bus that lost its tail', () => {
  it('is noticed by who saw it, is not written to, and gets each message back at its sequence', async () => {
    for (let n = 1; n <= 5; n += 1) await report(`e${n}`);
    await record(5);
    const copy = await copyOfData();
    for (let n = 6; n <= 10; n += 1) await report(`e${n}`, `W-${n % 2}`);
    await archive('EVIDENCE', 8);
    await archive('RECORD');
    const before = bare(await everything('EVIDENCE'));
    const level = createLevel({ log: bus.log, streams: ['EVIDENCE', 'RECORD'], records: model.bus });
    expect(await level.check()).toBeNull();
    await goBackTo(copy);

    expect(
      await bus.log.append({ subject: 'evidence.1.t.W-1', payload: encodeRecord({ v: 1, positions: {} }) }),
    ).toEqual({
      outcome: 'unavailable',
      reason: expect.stringContaining('was seen up to 10'),
    });
    for (let look = 1; look <= 3; look += 1) expect(await level.check()).toContain('lost its tail');
    expect(await found()).toEqual(['RECORD level', 'EVIDENCE tail']);
    expect((await everything('EVIDENCE')).length).toBe(5);

    const [, evidence] = await restoreBus(parts());
    expect(evidence).toMatchObject({
      stream: 'EVIDENCE',
      found: 'tail',
      endedAt: 5,
      published: 3,
      withoutId: 0,
      gap: { first: 9, last: 10, count: 2 },
      generation: { before: 1, after: 1 },
    });
    const after = bare(await everything('EVIDENCE'));
    expect(after.slice(0, 8)).toEqual(before.slice(0, 8));
    expect(after.slice(8).map(({ subject }) => subject)).toEqual(['evidence.gap', 'evidence.gap']);
    expect(await model.bus.gaps('EVIDENCE')).toEqual([{ first: 9, last: 10 }]);
    expect(await Promise.all([8, 9, 10, 11].map((sequence) => fate(1, sequence)))).toEqual([
      'current',
      'lost',
      'lost',
      'current',
    ]);
    expect(await level.check()).toBeNull();
    expect(await report('e11')).toBe(11);
    expect(await found()).toEqual(['RECORD level', 'EVIDENCE level']);
    expect(await restoreBus(parts())).toMatchObject([{ published: 0 }, { published: 0, gap: null }]);
  });

  it('never gives a sequence again of which the record speaks', async () => {
    for (let n = 1; n <= 3; n += 1) await report(`e${n}`);
    const copy = await copyOfData();
    await report('e4');
    await archive('EVIDENCE');
    await report('e5');
    await report('e6');
    await goBackTo(copy);
    await bus.close();
    bus = await newBus();
    await record(6);
    await archive('RECORD');
    const [, evidence] = await restoreBus(parts());
    expect(evidence).toMatchObject({ published: 1, gap: { first: 5, last: 6 } });
    expect(await report('e7')).toBe(7);
  });

  it('that was written to since: the archive wins, and what was written comes after it in a new generation', async () => {
    for (let n = 1; n <= 5; n += 1) await report(`e${n}`);
    await record(5);
    const copy = await copyOfData();
    for (let n = 6; n <= 8; n += 1) await report(`e${n}`);
    await record(8);
    await archive('EVIDENCE');
    await archive('RECORD');
    const before = bare(await everything('EVIDENCE'));
    await goBackTo(copy);
    await bus.close();
    bus = await newBus();
    // A writer that knows nothing of what was lost.
    await report('n1');
    await report('e7');
    await record(7, 'W-2');
    expect(await level()).toContain('lost its tail');
    expect(await found()).toEqual(['RECORD occupied', 'EVIDENCE occupied']);

    const [recordStream, evidence] = await restoreBus(parts());
    expect(recordStream).toMatchObject({ published: 2, kept: { derived: 1, appended: 0 } });
    expect(evidence).toMatchObject({
      published: 8,
      kept: { appended: 1, known: 1, derived: 0, 'set-aside': 0 },
      generation: { before: 1, after: 2 },
    });
    const after = await everything('EVIDENCE');
    expect(bare(after).slice(0, 8)).toEqual(before);
    expect(after.slice(8).map(({ messageId, generation }) => [messageId, generation])).toEqual([['m-n1', 2]]);
    expect(await model.writer.place(ARCHIVE_READER, 'EVIDENCE')).toMatchObject({ generation: 2, sequence: 8 });
    expect(await model.bus.generationEnd('EVIDENCE', 1)).toBe(8);
    expect([await fate(1, 8), await fate(1, 9), await fate(2, 9)]).toEqual(['kept', 'lost', 'current']);
    expect(await level()).toBeNull();
    await archive('EVIDENCE');
    expect(await found()).toEqual(['RECORD level', 'EVIDENCE level']);
  });

  it('that was made anew, empty: the archive is put back under a new generation', async () => {
    for (let n = 1; n <= 700; n += 1) await report(`e${n}`, `W-${n % 5}`);
    await record(700);
    await archive('EVIDENCE');
    await archive('RECORD');
    const before = bare(await everything('EVIDENCE'));
    for (const stream of ['EVIDENCE', 'RECORD'] as const) {
      await bus.remake(stream, 1, 0);
      await bus.mark(stream, 1, false);
    }
    expect(await level()).toContain('made anew');
    const progress: number[] = [];
    const done = await restoreBus({ ...parts(), onProgress: ({ done: count }) => progress.push(count) });
    expect(done).toMatchObject([
      { stream: 'RECORD', found: 'recreated', published: 1, generation: { after: 2 } },
      { stream: 'EVIDENCE', found: 'recreated', published: 700, generation: { after: 2 } },
    ]);
    expect(progress.at(-1)).toBe(700);
    expect(bare(await everything('EVIDENCE'))).toEqual(before);
    expect(await level()).toBeNull();
    // What stands in the new generation is archived, under the former one: nothing of it is missing.
    const all = { stream: 'EVIDENCE', generation: 2, after: 0, upTo: 701, limit: 10 };
    expect(await model.views.absentFromArchive(all)).toEqual([701]);
    expect(await model.views.absentFromArchive({ ...all, generation: 1 })).toEqual([701]);
  });

  it('is put back by a second run where the first one broke off', async () => {
    for (let n = 1; n <= 600; n += 1) await report(`e${n}`);
    await archive('EVIDENCE');
    const before = bare(await everything('EVIDENCE'));
    await bus.remake('EVIDENCE', 1, 0);
    await bus.mark('EVIDENCE', 1, false);
    const broken = restoreBus({
      ...parts(),
      onProgress: ({ done }) => {
        if (done >= 256) throw new Error('the operator went home');
      },
    });
    await expect(broken).rejects.toThrow('went home');
    expect(await level()).toContain('being put back');
    expect(await restoreBus(parts())).toMatchObject([{ published: 600 - 256, generation: { after: 2 } }]);
    expect(bare(await everything('EVIDENCE'))).toEqual(before);
    expect(await level()).toBeNull();
  });
});

describe('trimming', () => {
  it('takes out what is old, archived and covered, keeps sequences, and never more', async () => {
    for (let n = 1; n <= 10; n += 1) await report(`e${n}`);
    const trim = (now: number, dryRun = false) =>
      trimBus({ bus, records: model.bus, now }, { olderThanSeconds: 2 * 3_600, dryRun });
    const later = Date.now() + 3 * HOUR;
    expect((await trim(later))[0]).toMatchObject({ upTo: 0, refused: 'nothing of it is archived' });
    await archive('EVIDENCE', 8);
    expect((await trim(later))[0]).toMatchObject({ upTo: 0, covered: 0 });
    await bus.log.append({
      subject: subjects.position('classifier'),
      payload: encodeRecord({ v: 1, positions: { 'evidence:*': 6 } }),
    });
    expect((await trim(Date.now()))[0]).toMatchObject({ upTo: 0 });
    expect((await trim(later, true))[0]).toMatchObject({ upTo: 6, removed: 0 });
    expect((await trim(later))[0]).toMatchObject({ stream: 'EVIDENCE', upTo: 6, archived: 8, covered: 6, removed: 6 });
    expect((await everything('EVIDENCE')).map(({ sequence }) => sequence)).toEqual([7, 8, 9, 10]);
    await archive('EVIDENCE');
    // What was trimmed stays out when the stream is put back, and its sequences stay taken.
    await bus.remake('EVIDENCE', 1, 0);
    await bus.mark('EVIDENCE', 1, false);
    expect(await restoreBus(parts())).toMatchObject([{ published: 4 }]);
    expect((await everything('EVIDENCE')).map(({ sequence }) => sequence)).toEqual([7, 8, 9, 10]);
    await nats.kill9();
    await nats.restart();
    expect(await report('e11')).toBe(11);
  });

  it('keeps the policies it takes out of the evidence, once, whatever was kept before', async () => {
    const set = async (version: number, sequence: number) => {
      const payload = encodeRecord({ v: 1, events: [policySet(version)] });
      expect(await bus.log.append({ subject: subjects.policy('t'), payload })).toMatchObject({
        position: { sequence },
      });
    };
    await set(1, 1);
    await report('e1');
    await set(2, 3);
    await report('e2');
    await set(3, 5);
    await report('e3');
    await bus.log.append({
      subject: subjects.position('classifier'),
      payload: encodeRecord({ v: 1, positions: { 'evidence:*': 4 } }),
    });
    await archive('EVIDENCE');
    const now = Date.now() + 3 * HOUR;
    const trim = () => trimBus({ bus, records: model.bus, now }, { olderThanSeconds: 2 * 3_600, dryRun: false });
    // A run that ended before anything was taken out.
    await keepPolicies(bus.log, 3);
    expect((await trim())[0]).toMatchObject({ upTo: 4, removed: 4 });
    const kept = async () =>
      (await everything('RECORD'))
        .filter(({ subject }) => subject.startsWith('record.policy.t.'))
        .map(({ subject, payload }) => [subject, JSON.parse(Buffer.from(payload).toString('utf8')).sequence]);
    const versions = [
      [subjects.keptPolicy('t', 1), 1],
      [subjects.keptPolicy('t', 2), 3],
    ];
    expect((await kept()).filter(([subject]) => !String(subject).endsWith('newest'))).toEqual(versions);
    expect((await kept()).at(-1)).toEqual([subjects.keptPolicy('t', 'newest'), 3]);
    expect((await everything('EVIDENCE')).map(({ sequence }) => sequence)).toEqual([5, 6]);
  });

  it('refuses an age at which somebody may still be looking', () => {
    expect(() => trimBus({ bus, records: model.bus, now: Date.now() }, { olderThanSeconds: 60, dryRun: true })).toThrow(
      '3600',
    );
  });
});

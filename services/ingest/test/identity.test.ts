import { contentDigest, encodeRecord, subjects } from '@headway/contracts';
import { type AppendFault, createMemoryLog, createMemoryStreams, type EventLog, withFaults } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { eventsOf, type IngestUnderTest, memoryArchive, messagesOf, note, startIngest } from './ingest-under-test.ts';

const running: IngestUnderTest[] = [];
afterEach(async () => {
  for (const ingest of running.splice(0)) await ingest.stop();
});
async function start(given: Parameters<typeof startIngest>[0] = {}) {
  const ingest = await startIngest(given);
  running.push(ingest);
  await ingest.untilReady();
  return ingest;
}
const verdicts = ({ body }: Awaited<ReturnType<IngestUnderTest['batch']>>) => body.events.map(({ verdict }) => verdict);
const ids = async (log: EventLog) => (await eventsOf(log)).map(({ id }) => id);

describe('the same event again', () => {
  it('is a duplicate with its position: in the same request, later, and from the archive', async () => {
    const ingest = await start();
    expect(verdicts(await ingest.batch([note('1'), note('1')]))).toEqual(['accepted', 'duplicate']);
    const again = await ingest.batch([note('1'), note('2')]);
    expect(again.body.events).toMatchObject([
      { verdict: 'duplicate', position: 'EVIDENCE:1:1' },
      { verdict: 'accepted', position: 'EVIDENCE:1:2' },
    ]);
    await ingest.archive.follow();
    const restarted = await start({ store: ingest.store, archive: ingest.archive });
    expect((await restarted.batch([note('1')])).body).toMatchObject({
      duplicate: 1,
      events: [{ verdict: 'duplicate', position: null }],
    });
    expect(await ids(ingest.store)).toEqual(['1', '2']);
  });

  it('waits for the first where that is under way, and is its duplicate', async () => {
    const { store, release, appends } = slowLog();
    const ingest = await start({ log: store, store });
    const requests = [1, 2, 3].map(() => ingest.batch([note('1'), note('2', 'n', 'W-2')]));
    await eventually(() => appends() >= 2);
    release();
    const all = (await Promise.all(requests)).map(verdicts);
    expect(all.flat().filter((verdict) => verdict === 'accepted')).toHaveLength(2);
    expect(all.flat().filter((verdict) => verdict === 'duplicate')).toHaveLength(4);
    expect(await messagesOf(store)).toHaveLength(2);
  });

  it('does not make requests wait in a circle', async () => {
    const { store, release } = slowLog();
    const ingest = await start({ log: store, store });
    const [one, two] = [note('1'), note('2', 'n', 'W-2')];
    const requests = [ingest.batch([one, two]), ingest.batch([two, one])];
    release();
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([202, 202]);
    expect((await ids(store)).sort()).toEqual(['1', '2']);
  });
});

describe('another content under the same identity', () => {
  it('is refused with 409, and the refusal is a fact about the work, once for each content', async () => {
    const ingest = await start();
    await ingest.batch([note('1', 'first')]);
    for (let round = 0; round < 2; round += 1)
      expect(await ingest.batch([note('1', 'second', 'W-2')])).toMatchObject({
        status: 409,
        body: { code: 'identity_conflict' },
      });
    await ingest.batch([note('1', 'third')]);
    const facts = (await eventsOf(ingest.store)).filter(({ type }) => type === 'headway.evidence.refused');
    expect(facts).toMatchObject([
      { subject: 'W-2', source: 'headway/ingest', data: { reason: 'conflict', refused: { source: 'test', id: '1' } } },
      { subject: 'W-1' },
    ]);
    const [first, second] = facts as { id: string; data: { standing: string; offered: string } }[];
    expect(first?.data.standing).toBe(second?.data.standing);
    expect(first?.data.offered).not.toBe(second?.data.offered);
    await ingest.archive.follow();
    const restarted = await start({ store: ingest.store, archive: ingest.archive });
    expect((await restarted.batch([note('1', 'third')])).status).toBe(409);
    expect(await eventsOf(ingest.store)).toHaveLength(3);
  });

  it('also within one request: the first stands', async () => {
    const ingest = await start();
    const answer = await ingest.batch([note('1', 'a'), note('1', 'b'), note('1', 'b'), note('2')]);
    expect(verdicts(answer)).toEqual(['accepted', 'refused', 'refused', 'accepted']);
    expect(answer.status).toBe(202);
    expect((await eventsOf(ingest.store)).map(({ type }) => type).sort()).toEqual([
      'headway.checkpoint.recorded',
      'headway.checkpoint.recorded',
      'headway.evidence.refused',
    ]);
  });

  it('asks for another try where the fact could not be recorded', async () => {
    const store = createMemoryLog();
    const faults: (AppendFault | null)[] = [null, 'message-lost'];
    const ingest = await start({ store, log: withFaults(store, { append: () => faults.shift() ?? null }) });
    await ingest.batch([note('1', 'first')]);
    expect(await ingest.batch([note('1', 'second')])).toMatchObject({ status: 503, body: { code: 'log_unavailable' } });
    expect((await ingest.batch([note('1', 'second')])).status).toBe(409);
    expect((await eventsOf(store)).map(({ type }) => type)).toEqual([
      'headway.checkpoint.recorded',
      'headway.evidence.refused',
    ]);
  });
});

describe('a log that does not answer', () => {
  it.each(['answer-lost', 'message-lost'] as const)(
    '%s: 503, and each event once however it is sent again',
    async (fault) => {
      const store = createMemoryLog();
      let faults = 1;
      const ingest = await start({ store, log: withFaults(store, { append: () => (faults-- > 0 ? fault : null) }) });
      const first = await ingest.batch([note('1'), note('2'), note('3')]);
      expect(first).toMatchObject({ status: 503, body: { code: 'log_unavailable', refused: 3 } });
      expect(first.headers['retry-after']).toBe('1');
      // In another grouping, so that the server could not notice.
      expect((await ingest.batch([note('2')])).status).toBe(202);
      expect((await ingest.batch([note('3'), note('4'), note('1')])).status).toBe(202);
      expect((await ids(store)).sort()).toEqual(['1', '2', '3', '4']);
    },
  );

  it('takes nothing of a work after an append that failed, and everything of the others', async () => {
    const store = createMemoryLog();
    let failing = true;
    const log = withFaults(store, {
      append: ({ subject }) => (failing && subject.endsWith('.W-1') ? 'message-lost' : null),
    });
    const ingest = await start({ store, log });
    const events = [...Array.from({ length: 600 }, (_, index) => note(`a${index}`)), note('b', 'n', 'W-2')];
    const answer = await ingest.batch(events);
    expect(answer).toMatchObject({ status: 202, body: { accepted: 1, refused: 600 } });
    expect(await ids(store)).toEqual(['b']);
    failing = false;
    expect((await ingest.batch(events)).body).toMatchObject({ refused: 0 });
    expect(await ids(store)).toEqual(['b', ...events.slice(0, 600).map(({ id }) => id)]);
  });

  it('settles an old doubt by reading to the end', async () => {
    const store = createMemoryLog();
    let now = 0;
    let faults = 1;
    const log = withFaults(store, { append: () => (faults-- > 0 ? 'answer-lost' : null) });
    const ingest = await start({ store, log, clock: { now: () => now } });
    expect((await ingest.batch([note('1')])).status).toBe(503);
    now = 600_000;
    await ingest.archive.follow();
    await ingest.untilReady();
    expect((await ingest.batch([note('1'), note('2')])).body).toMatchObject({ accepted: 1, duplicate: 1 });
    expect(await ids(store)).toEqual(['1', '2']);
  });
});

describe('the archive', () => {
  it('away: nothing new is taken, and it says when to come back', async () => {
    const ingest = await start();
    await ingest.batch([note('1')]);
    ingest.archive.away = true;
    const answer = await ingest.batch([note('2')]);
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect(answer.headers['retry-after']).toBe('1');
    await eventually(async () => !(await ingest.ready()).ready);
    ingest.archive.away = false;
    await ingest.untilReady();
    expect((await ingest.batch([note('2')])).status).toBe(202);
    expect(await ids(ingest.store)).toEqual(['1', '2']);
  });

  it('too far behind: 503 beyond the bound of the index, and on again when it follows', async () => {
    const ingest = await start({ indexEntries: 100 });
    const events = Array.from({ length: 120 }, (_, index) => note(String(index)));
    expect((await ingest.batch(events)).status).toBe(202);
    expect(await ingest.batch([note('more')])).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect((await ingest.ready()).checks.identities?.reason).toContain('too far behind');
    await ingest.archive.follow();
    await ingest.untilReady();
    expect((await ingest.batch([...events, note('more')])).body).toMatchObject({ accepted: 1, duplicate: 120 });
  });

  it('more than a minute behind: 503 that says so, by the time of the oldest message it lacks', async () => {
    let now = 1_000_000;
    const clock = { now: () => now };
    const store = createMemoryLog({ clock });
    const ingest = await start({ store, clock });
    await ingest.batch([note('1')]);
    now += 59_000;
    expect((await ingest.batch([note('2')])).status).toBe(202);
    now += 2_000;
    expect(await ingest.batch([note('3')])).toMatchObject({ status: 503, body: { code: 'archive_behind' } });
    expect((await ingest.ready()).checks.identities?.reason).toContain('61 s behind');
    await ingest.archive.follow();
    await ingest.untilReady();
    expect((await ingest.batch([note('3')])).status).toBe(202);
    expect(await ids(store)).toEqual(['1', '2', '3']);
  });

  it('ahead of the log: nothing is taken, and the answer names the way out', async () => {
    const store = createMemoryLog();
    const archive = memoryArchive(store);
    archive.setPlace({ generation: 1, sequence: 5 });
    const ingest = await startIngest({ store, archive });
    running.push(ingest);
    await eventually(async () => (await ingest.ready()).checks.identities?.reason?.includes('lost its tail'));
    const answer = await ingest.batch([note('1')]);
    expect(answer).toMatchObject({ status: 503, body: { code: 'log_lost_tail' } });
    expect(answer.body.detail).toContain('docs/guides/restoring-the-bus.md');
    expect(await ids(store)).toEqual([]);
  });

  it('of a stream that was made anew while ingest runs: nothing is taken until it is put back', async () => {
    const streams = createMemoryStreams();
    const store = createMemoryLog({ streams });
    const ingest = await start({ store });
    await ingest.batch([note('1')]);
    await ingest.archive.follow();
    streams.recreate('EVIDENCE');
    await eventually(async () => (await ingest.batch([note('2')])).body.code === 'log_lost_tail', { within: 20_000 });
    // Put back: the same message at the same sequence, in the new generation.
    const other = createMemoryLog({ streams });
    await other.append({ subject: subjects.evidence('default', 'W-1'), payload: payloadOf(note('1')) });
    ingest.archive.setPlace({ generation: 2, sequence: 1 });
    await eventually(async () => (await ingest.batch([note('1'), note('2')])).body.accepted === 1, { within: 20_000 });
    expect(await ids(store)).toEqual(['1', '2']);
  });
});

describe('two replicas on one log', () => {
  it('take the same events in different groupings at once, each once', async () => {
    const store = createMemoryLog();
    const archive = memoryArchive(store);
    const replicas = [await start({ store, archive }), await start({ store, archive })];
    const events = Array.from({ length: 240 }, (_, index) => note(`e${index}`, 'n', `W-${index % 8}`));
    let accepted = 0;
    for (let from = 0; from < events.length; from += 60) {
      const part = events.slice(from, from + 60);
      const requests = replicas.flatMap((ingest, number) => {
        const size = number === 0 ? 7 : 11;
        return Array.from({ length: Math.ceil(part.length / size) }, (_, at) =>
          ingest.batch(part.slice(at * size, (at + 1) * size)),
        );
      });
      for (const { body } of await Promise.all(requests)) {
        expect(body.refused).toBe(0);
        accepted += body.accepted;
      }
    }
    expect(accepted).toBe(events.length);
    expect((await ids(store)).sort()).toEqual(events.map(({ id }) => id).sort());
  });

  it('settle what another replica was faster with, and append the rest of the commit', async () => {
    const store = createMemoryLog();
    const archive = memoryArchive(store);
    const [one, two] = [await start({ store, archive }), await start({ store, archive })];
    await one.batch([note('1')]);
    // What the second replica has read so far does not hold the first one's newest message.
    const stale = await start({ store, archive, log: readingLate(store) });
    await two.batch([note('2'), note('3')]);
    expect(verdicts(await stale.batch([note('3'), note('4'), note('1')]))).toEqual([
      'duplicate',
      'accepted',
      'duplicate',
    ]);
    expect(await ids(store)).toEqual(['1', '2', '3', '4']);
  });

  it('append to a work whose messages were all trimmed', async () => {
    const store = createMemoryLog();
    const ingest = await start({ store, log: forgetful(store) });
    expect((await ingest.batch([note('1')])).status).toBe(202);
    expect((await ingest.batch([note('2')])).body).toMatchObject({ accepted: 1 });
    expect(await ids(store)).toEqual(['1', '2']);
  });
});

describe('a server that calls an append a duplicate', () => {
  it('is believed only where the stored message is that commit', async () => {
    const store = createMemoryLog();
    let lies = 1;
    const log: EventLog = {
      ...store,
      append: async (message) =>
        message.subject.endsWith('W-2') && lies-- > 0
          ? { outcome: 'duplicate', position: { stream: 'EVIDENCE', generation: 1, sequence: 1 } }
          : store.append(message),
    };
    const ingest = await start({ store, log });
    await ingest.batch([note('1')]);
    expect((await ingest.batch([note('2', 'n', 'W-2')])).body).toMatchObject({ accepted: 1 });
    expect(await ids(store)).toEqual(['1', '2']);
  });
});

describe('a process that was killed', () => {
  it('at any append: each event is in the log once, however the client groups its retry', async () => {
    const events = Array.from({ length: 40 }, (_, index) => note(`e${index}`, 'n', `W-${index % 3}`));
    for (let at = 1; at <= 6; at += 1)
      for (const fault of ['answer-lost', 'message-lost'] as const) {
        const store = createMemoryLog();
        let killed = () => {};
        // The process ends at this append: what follows never reaches the log.
        let dead = false;
        const log = withFaults(store, {
          append: (_message, number) => {
            if (dead) return 'message-lost';
            if (number !== at) return null;
            dead = true;
            queueMicrotask(() => killed());
            return fault;
          },
        });
        const first = await start({ store, log });
        killed = first.crash;
        await first.batch(events.slice(0, 25));
        await first.batch(events.slice(25));
        if (at % 2 === 0) await first.archive.follow();
        const second = await start({ store, archive: first.archive });
        for (let from = 0; from < events.length; from += 7)
          expect((await second.batch(events.slice(from, from + 7))).body.refused).toBe(0);
        expect((await ids(store)).sort()).toEqual(events.map(({ id }) => id).sort());
      }
  });
});

/** A log whose appends wait until they are let go. */
function slowLog() {
  const memory = createMemoryLog();
  const gate = Promise.withResolvers<void>();
  let appends = 0;
  const store: EventLog = {
    ...memory,
    async append(message) {
      appends += 1;
      await gate.promise;
      return memory.append(message);
    },
  };
  return { store, release: gate.resolve, appends: () => appends };
}

/** A log whose readers hear of a message some time after it stands. */
function readingLate(memory: EventLog): EventLog {
  return withFaults(memory, {
    beforeBatch: (_options, number) =>
      number === 1 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, 150)),
  });
}

/** A log that has no message of a work any more after its first one, as after trimming. */
function forgetful(memory: EventLog): EventLog {
  return {
    ...memory,
    last: async () => null,
    append: async (message) => {
      if (message.expectedLastSequence !== undefined && message.expectedLastSequence > 0)
        return { outcome: 'conflict', reason: 'the last sequence is 0', lastSequence: 0 };
      const { expectedLastSequence: _, ...free } = message;
      return memory.append(free);
    },
  };
}

const payloadOf = (event: ReturnType<typeof note>) =>
  encodeRecord({ v: 1, events: [event as never], contents: [contentDigest(event)] });

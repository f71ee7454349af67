import { STREAMS, subjects } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog, withFaults } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { describe, expect, it } from 'vitest';
import {
  accept,
  claimed,
  coveredRecord,
  failed,
  memoryClaims,
  passed,
  raisedSignals,
  recorded,
  replicaOn,
  replicasOfTests,
  replied,
  reported,
  tickAll,
} from './fleet.ts';

const { start } = replicasOfTests();

describe('a replica of the classifier in adversity', () => {
  it('folds each of two acknowledgements of one work that were judged together', async () => {
    const log = createMemoryLog();
    start(log);
    const stuck = () => failed('W-1', ['mine'], 'd1');
    const shared = (work: string) => failed(work, ['db'], 'd1', 'lint');
    await accept(log, 't', [claimed('W-1'), stuck(), stuck(), stuck(), shared('W-1')]);
    await accept(log, 't', [claimed('W-2'), shared('W-2')]);
    const open = await eventually(async () => {
      const events = (await recorded(log)).signals.flatMap((event) =>
        event.type === 'headway.signal.raised' ? [event.data] : [],
      );
      return events.length === 2 ? events : null;
    });
    const own = open.find(({ kind }) => kind === 'stagnating')?.signal ?? '';
    const group = open.find(({ kind }) => kind === 'shared-failure')?.signal ?? '';
    const answers = await Promise.all([
      accept(log, 't', [replied('W-1', own)]),
      accept(log, 't', [replied('W-2', group)]),
    ]);
    await coveredRecord(log, 't', 'W-1', answers[0]);
    await coveredRecord(log, 't', 'W-2', answers[1]);
    // Each acknowledgement clears the way for the next signal, once fresh evidence asks for one.
    await accept(log, 't', [stuck(), stuck(), stuck()]);
    await eventually(async () => (await raisedSignals(log)).length === 3);
  });

  it('counts ticks that it reads together with the evidence before them', async () => {
    const log = createMemoryLog();
    await accept(log, 't', [passed('W-1', 'd1', 'prep')]);
    await tickAll(log, 'first');
    await tickAll(log, 'second');
    start(log);
    await eventually(async () => (await raisedSignals(log)).length === 1);
  });

  it('ends at once while a reply waits for a judgment that does not come', async () => {
    const streams = createMemoryStreams();
    const deaf = withFaults(createMemoryLog({ streams }), {
      append: (message) => (message.subject.startsWith('record.signals.') ? 'message-lost' : null),
    });
    const replica = replicaOn(deaf, memoryClaims());
    const sequence = await accept(deaf, 't', [
      failed('W-1', ['a'], 'd1'),
      replied('W-1', 's'),
      failed('W-1', ['a'], 'd1'),
    ]);
    await eventually(async () => (await deaf.last(STREAMS.record, subjects.trajectory('t', 'W-1'))) !== null);
    let ended = false;
    void replica.stop().then(() => {
      ended = true;
    });
    await eventually(() => ended, { within: 5_000, what: 'the end of the replica' });
    expect(sequence).toBe(1);
  });

  it('tells how far the signals go also when the log was away while that was to be written', async () => {
    let away = 3;
    const log = createMemoryLog();
    const faulty = withFaults(log, {
      append: (message) => {
        if (message.subject !== subjects.position('signaller') || away === 0) return null;
        away -= 1;
        return 'message-lost';
      },
    });
    const broken: EventLog = {
      ...faulty,
      last: async (stream, subject) => {
        if (subject === subjects.position('signaller') && away > 0 && away < 3) throw new Error('the log is away');
        return log.last(stream, subject);
      },
    };
    start(broken);
    await coveredRecord(log, 't', 'W-1', await accept(log, 't', [failed('W-1', ['a'], 'd1')]));
    const newest = await log.last(STREAMS.record, subjects.trajectory('t', 'W-1'));
    // The outage ends without further evidence.
    await eventually(() => away < 3);
    away = Math.min(away, 0);
    await eventually(async () => {
      const message = await log.last(STREAMS.record, subjects.position('signaller'));
      if (message === null) return false;
      const { positions } = JSON.parse(Buffer.from(message.payload).toString()) as {
        positions: Record<string, number>;
      };
      return (positions.RECORD ?? 0) >= (newest?.sequence ?? 1);
    });
  });

  it('goes on signalling when the signals of a tenant are more than one message can hold', async () => {
    const streams = createMemoryStreams();
    const log = createMemoryLog({ streams });
    const claims = memoryClaims();
    const first = replicaOn(createMemoryLog({ streams }), claims);
    const works = Array.from({ length: 1_500 }, (_, index) => `W-${index}-${'x'.repeat(60)}`);
    for (const work of works)
      await accept(log, 'large', [claimed(work), ...Array.from({ length: 3 }, () => failed(work, [work], 'd1'))]);
    await eventually(async () => (await raisedSignals(log)).length === works.length, { within: 20_000 });
    await first.stop();
    start(createMemoryLog({ streams }), claims);
    for (const work of works.slice(0, 3)) {
      const at = await accept(log, 'large', [passed(work, 'd2')]);
      await coveredRecord(log, 'large', work, at);
    }
    await accept(
      log,
      'small',
      Array.from({ length: 3 }, () => failed('S-1', ['a'], 'd1')),
    );
    await eventually(async () => (await raisedSignals(log)).length === works.length + 1);
    const { signals } = await recorded(log);
    const count = (type: string) => signals.filter((event) => event.type === type).length;
    expect(count('headway.signal.withdrawn')).toBe(3);
    expect(new Set(signals.map(({ id }) => id)).size).toBe(signals.length);
  });

  it('raises each signal once when it died between the parts of a large state and the record that names them', async () => {
    const streams = createMemoryStreams();
    const log = createMemoryLog({ streams });
    let parts = 0;
    const dying = withFaults(createMemoryLog({ streams }), {
      append: ({ subject, payload }) => {
        if (!subject.startsWith('record.signals.')) return null;
        const record = JSON.parse(Buffer.from(payload).toString()) as { partsOnly?: object; parts?: object };
        if (record.partsOnly !== undefined) parts += 1;
        return record.parts !== undefined && parts > 0 ? 'message-lost' : null;
      },
    });
    const claims = memoryClaims();
    const works = Array.from({ length: 500 }, (_, index) => `W-${index}-${'x'.repeat(190)}`);
    for (const work of works)
      await accept(
        log,
        't',
        Array.from({ length: 3 }, () => failed(work, [work], 'd1')),
      );
    // It finds all of that at once, so that more changes than one record holds.
    const first = replicaOn(dying, claims);
    await eventually(() => parts > 0, { what: 'parts' });
    await first.stop();
    start(createMemoryLog({ streams }), claims);
    await eventually(async () => (await raisedSignals(log)).length === works.length);
    for (const work of works.slice(0, 2)) await accept(log, 't', [passed(work, 'd2')]);
    await eventually(async () => {
      const { signals } = await recorded(log);
      expect(signals.filter((event) => event.type === 'headway.signal.withdrawn')).toHaveLength(2);
      expect(new Set(signals.map(({ id }) => id)).size).toBe(signals.length);
      return true;
    });
  });

  it('lets a work stand still at a message that cannot be read, goes on with all others, and keeps its place', async () => {
    const log = createMemoryLog();
    start(log);
    await log.append({ subject: subjects.evidence('t', 'W-1'), payload: Buffer.from('{"v":1,"events":') });
    await accept(
      log,
      't',
      Array.from({ length: 3 }, () => failed('W-2', ['a'], 'd1')),
    );
    await eventually(async () => (await raisedSignals(log)).length === 1);
    const last = await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
    await coveredRecord(log, 't', 'W-3', await accept(log, 't', [reported('W-3', 'headway.wake.delivered', {})]));
    const newest = await log.last(STREAMS.record, subjects.trajectory('t', 'W-1'));
    expect([last, newest]).toEqual([3, null]);
    // The position is written after the batch: it stays before what is still to be handled.
    const position = await eventually(async () => {
      const message = await log.last(STREAMS.record, subjects.position('classifier'));
      return message === null ? null : JSON.parse(Buffer.from(message.payload).toString());
    });
    expect(position.positions['evidence:*'] ?? 0).toBe(0);
  });
});

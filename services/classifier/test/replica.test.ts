import { encodeRecord, STREAMS, subjects, type TrajectoryRecord } from '@headway/contracts';
import { createMemoryLog, createMemoryStreams, type EventLog, withFaults } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { createClassification } from '@headway/trajectory';
import { describe, expect, it } from 'vitest';
import {
  accept,
  claimed,
  coveredRecord,
  everything,
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

const { start, endLater } = replicasOfTests();

const announced = async (log: EventLog, subject: string) =>
  (await everything(log, STREAMS.feed)).filter((message) => message.subject.startsWith(subject));

describe('a replica of the classifier', () => {
  it('records assessments, raises one signal and announces it once', async () => {
    const log = createMemoryLog();
    start(log);
    for (let attempt = 0; attempt < 5; attempt += 1) await accept(log, 't', [failed('W-1', ['a'], 'd1')]);
    const subject = subjects.feed.signal('t', 'stagnating', 'W-1');
    await eventually(async () => (await announced(log, subject)).length > 0);
    await coveredRecord(log, 't', 'W-1', 5);
    const [message, ...more] = await announced(log, subject);
    expect(more).toEqual([]);
    expect(JSON.parse(Buffer.from(message?.payload ?? []).toString())).toMatchObject({
      specversion: '1.0',
      type: 'headway.signal.raised',
      tenant: 't',
      subject: 'W-1',
      data: { kind: 'stagnating', rule: 'same-failure', gate: 'test', count: 3, works: ['W-1'] },
    });
  });

  it('changes nothing when it reads everything again, as after the loss of its positions', async () => {
    const streams = createMemoryStreams();
    const log = createMemoryLog({ streams });
    const first = start(log);
    const last = await accept(log, 't', [
      claimed('W-1'),
      ...Array.from({ length: 3 }, () => failed('W-1', ['a'], 'd1')),
    ]);
    await coveredRecord(log, 't', 'W-1', last);
    await eventually(async () => (await raisedSignals(log)).length === 1);
    await first.stop();
    const before = await recorded(log);

    const forgetful: EventLog = {
      ...log,
      last: async (stream, subject) => (subject.startsWith('record.position.') ? null : log.last(stream, subject)),
    };
    start(forgetful);
    const later = await accept(log, 't', [passed('W-2', 'd1')]);
    await coveredRecord(log, 't', 'W-2', later);
    const after = await recorded(log);
    expect(after.signals).toEqual(before.signals);
    expect(after.assessments.filter((event) => event.work === 'W-1')).toEqual(before.assessments);
  });

  it('lets an acknowledgement count before the evidence that follows it, also in one commit', async () => {
    const log = createMemoryLog();
    start(log);
    const failing = () => failed('W-1', ['a'], 'd1');
    await accept(log, 't', [claimed('W-1'), failing(), failing(), failing()]);
    const [signal] = await eventually(async () => {
      const raised = await raisedSignals(log);
      return raised.length === 1 ? raised : null;
    });
    const last = await accept(log, 't', [replied('W-1', signal ?? ''), failing(), failing()]);
    await coveredRecord(log, 't', 'W-1', last);
    expect(await raisedSignals(log)).toHaveLength(1);
    await accept(log, 't', [failing()]);
    await eventually(async () => (await raisedSignals(log)).length === 2);
    expect(await announced(log, subjects.feed.acknowledgement('t', 'W-1'))).toHaveLength(1);
  });

  it('goes on after a reply that acknowledges nothing', async () => {
    const log = createMemoryLog();
    start(log);
    const failing = () => failed('W-1', ['a'], 'd1');
    await accept(log, 't', [failing(), replied('W-1', 'no-such-signal'), failing(), failing()]);
    await eventually(async () => (await raisedSignals(log)).length === 1);
  });

  it('goes on when it died between a reply and its judgment', async () => {
    const streams = createMemoryStreams();
    const claims = memoryClaims();
    // This one never hears of a judgment: its signaller cannot write.
    const deaf = withFaults(createMemoryLog({ streams }), {
      append: (message) => (message.subject.startsWith('record.signals.') ? 'message-lost' : null),
    });
    const log = createMemoryLog({ streams });
    const first = start(deaf, claims);
    const sequence = await accept(log, 't', [failed('W-1', ['a'], 'd1'), replied('W-1', 's')]);
    await coveredRecord(log, 't', 'W-1', sequence);
    await first.stop();
    start(log, claims);
    const last = await accept(log, 't', [failed('W-1', ['a'], 'd1'), failed('W-1', ['a'], 'd1')]);
    await coveredRecord(log, 't', 'W-1', last);
    await eventually(async () => (await raisedSignals(log)).length === 1);
  });

  it('signals a pause after two ticks and not after one', async () => {
    const log = createMemoryLog();
    start(log);
    await coveredRecord(log, 't', 'W-1', await accept(log, 't', [passed('W-1', 'd1', 'prep')]));
    await tickAll(log, 'first');
    await coveredRecord(log, 't', 'W-2', await accept(log, 't', [reported('W-2', 'headway.wake.delivered', {})]));
    expect(await raisedSignals(log)).toEqual([]);
    await tickAll(log, 'second');
    await eventually(async () => (await raisedSignals(log)).length === 1);
    await tickAll(log, 'third');
    await coveredRecord(log, 't', 'W-2', await accept(log, 't', [reported('W-2', 'headway.wake.delivered', {})]));
    expect(await raisedSignals(log)).toHaveLength(1);
  });

  it('counts ticks that it reads together with what they wait for', async () => {
    const log = createMemoryLog();
    await accept(log, 't', [passed('W-1', 'd1', 'prep')]);
    await tickAll(log, 'first');
    await tickAll(log, 'second');
    start(log);
    await eventually(async () => (await raisedSignals(log)).length === 1);
  });

  it('carries the trace of the evidence on to the signal that it caused, and begins none where there is none', async () => {
    const log = createMemoryLog();
    start(log);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await accept(log, 't', [failed('W-1', ['a'], 'd1'), failed('W-1', ['a'], 'd1')]);
    await coveredRecord(log, 't', 'W-1', 1);
    await accept(log, 't', [failed('W-1', ['a'], 'd1')], { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    const [raised] = await eventually(async () => {
      const messages = await announced(log, 'trajectory.signal.');
      return messages.length > 0 ? messages : null;
    });
    expect(raised?.headers.traceparent).toContain(trace);
    const traced = (await everything(log, STREAMS.feed)).filter(({ headers }) => headers.traceparent !== undefined);
    expect(traced.every(({ headers }) => headers.traceparent?.includes(trace))).toBe(true);
    expect(traced.length).toBeLessThan((await everything(log, STREAMS.feed)).length);
  });

  it('keeps tenants apart', async () => {
    const log = createMemoryLog();
    start(log);
    for (const tenant of ['one', 'two']) await accept(log, tenant, [failed('W-1', ['db'], 'x')]);
    await coveredRecord(log, 'one', 'W-1', 1);
    await coveredRecord(log, 'two', 'W-1', 2);
    for (const tenant of ['one', 'two']) {
      const last = await accept(log, tenant, [failed('W-1', ['db'], 'x'), failed('W-1', ['db'], 'x')]);
      await coveredRecord(log, tenant, 'W-1', last);
    }
    await eventually(async () => (await raisedSignals(log)).length === 2);
    const { signals } = await recorded(log);
    expect(signals.every((event) => event.type === 'headway.signal.raised' && event.data.kind === 'stagnating')).toBe(
      true,
    );
  });

  it.each(['answer-lost', 'message-lost'] as const)(
    'loses and doubles nothing when a third of its writes meet %s',
    async (fault) => {
      const streams = createMemoryStreams();
      const faulty = withFaults(createMemoryLog({ streams }), {
        append: (message, number) => (message.subject.startsWith('record.') && number % 3 === 0 ? fault : null),
      });
      const log = createMemoryLog({ streams });
      start(faulty);
      for (let round = 0; round < 20; round += 1)
        for (const work of ['W-1', 'W-2', 'W-3']) await accept(log, 't', [failed(work, [work], 'd1')]);
      for (const work of ['W-1', 'W-2', 'W-3']) await coveredRecord(log, 't', work, 57);
      await eventually(async () => (await raisedSignals(log)).length === 3);
      const { assessments } = await recorded(log);
      expect(new Set(assessments.map((event) => event.id)).size).toBe(assessments.length);
      expect(assessments.filter((event) => event.work === 'W-1').map((event) => event.data.attempts)).toEqual(
        Array.from({ length: 20 }, (_, attempt) => attempt + 1),
      );
    },
  );

  it('starts anew from what is recorded when another process wrote, and counts it', async () => {
    const log = createMemoryLog();
    const paused = start(log);
    await coveredRecord(log, 't', 'W-1', await accept(log, 't', [failed('W-1', ['a'], 'd1')]));
    // Another owner that took over meanwhile recorded what it found, and gave the work back.
    const subject = subjects.trajectory('t', 'W-1');
    const newest = await log.last(STREAMS.record, subject);
    const record = JSON.parse(Buffer.from(newest?.payload ?? []).toString()) as TrajectoryRecord;
    await log.append({ subject, payload: encodeRecord({ ...record, events: [] }) });
    const last = await accept(log, 't', [failed('W-1', ['a'], 'd1'), failed('W-1', ['a'], 'd1')]);
    await coveredRecord(log, 't', 'W-1', last);
    await eventually(async () => (await raisedSignals(log)).length === 1);
    expect(paused.fenced()).toBeGreaterThan(0);
    const { assessments } = await recorded(log);
    expect(assessments.map((event) => event.data.attempts)).toEqual([1, 2, 3]);
  });

  it('shares the partitions with a second replica and takes them all when that one ends', async () => {
    const streams = createMemoryStreams();
    const claims = memoryClaims();
    const one = start(createMemoryLog({ streams }), claims, { renewalSeconds: 0.05 });
    await eventually(() => one.duties().partitions.size === 64);
    const two = start(createMemoryLog({ streams }), claims, { renewalSeconds: 0.05 });
    await eventually(() => one.duties().partitions.size === 32 && two.duties().partitions.size === 32);
    const log = createMemoryLog({ streams });
    const works = Array.from({ length: 20 }, (_, index) => `W-${index}`);
    for (const work of works) await coveredRecord(log, 't', work, await accept(log, 't', [failed(work, [work], 'd')]));
    await one.stop();
    await eventually(() => two.duties().partitions.size === 64 && two.duties().signaller);
    for (const work of works) await accept(log, 't', [failed(work, [work], 'd'), failed(work, [work], 'd')]);
    await eventually(async () => (await raisedSignals(log)).length === works.length);
  });

  it('says of each work what the offline classification says of the same log, however often it restarts', async () => {
    const streams = createMemoryStreams();
    const log = createMemoryLog({ streams });
    const claims = memoryClaims();
    let replica = replicaOn(createMemoryLog({ streams }), claims);
    const offline = createClassification({ tenant: 't' });
    const works = ['W-1', 'W-2', 'W-3', 'W-4'];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      // The low bits of such a generator go round in small circles.
      return (seed >> 12) % below;
    };
    let last = 0;
    for (let step = 0; step < 300; step += 1) {
      const work = works[random(works.length)] ?? 'W-1';
      const event =
        random(8) === 0
          ? passed(work, `d${random(4)}`, random(2) === 0 ? 'prep' : 'bare')
          : failed(work, [`${work}-${random(2)}`], `d${random(3)}`, ['test', 'lint'][random(2)]);
      offline.push(event);
      last = await accept(log, 't', [event]);
      if (step % 60 === 59) {
        await replica.stop();
        replica = replicaOn(createMemoryLog({ streams }), claims);
      }
    }
    endLater(() => replica.stop());
    await coveredRecord(log, 't', 'W-9', await accept(log, 't', [claimed('W-9')]));
    expect(last).toBe(300);
    for (const work of works) {
      await eventually(async () => {
        const { assessments } = await recorded(log);
        const newest = assessments.filter((event) => event.work === work).at(-1)?.data;
        expect(newest).toEqual(offline.assessment(work));
        return true;
      });
    }
  });
});

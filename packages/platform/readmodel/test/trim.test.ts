import { encodeRecord, subjects } from '@headway/contracts';
import { restoreBus, trimBus } from '@headway/readmodel';
import { describe, expect, it } from 'vitest';
import { keepPolicies } from '../src/bus/keep-policies.ts';
import { archive, bus, everything, HOUR, model, nats, parts, policySet, report } from './bus-under-test.ts';

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

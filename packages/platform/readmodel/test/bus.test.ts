import { encodeRecord, subjects } from '@headway/contracts';
import { ARCHIVE_READER, createLevel, restoreBus } from '@headway/readmodel';
import { describe, expect, it } from 'vitest';
import {
  archive,
  bare,
  bus,
  copyOfData,
  everything,
  fate,
  found,
  goBackTo,
  level,
  model,
  parts,
  policySet,
  reconnect,
  record,
  report,
} from './bus-under-test.ts';

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
    await reconnect();
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
    for (let n = 6; n <= 9; n += 1) await report(`e${n}`);
    await bus.log.append({
      subject: subjects.policy('u'),
      payload: encodeRecord({ v: 1, events: [policySet(1)] }),
    });
    await record(10);
    await archive('EVIDENCE');
    await archive('RECORD');
    const before = bare(await everything('EVIDENCE'));
    await goBackTo(copy);
    await reconnect();
    // A writer that knows nothing of what was lost.
    await report('n1');
    await report('e7');
    // Nobody else has changed this tenant's policies since; the other one's were.
    for (const tenant of ['t', 'u'])
      await bus.log.append({
        subject: subjects.policy(tenant),
        payload: encodeRecord({ v: 1, events: [policySet(tenant === 't' ? 1 : 2)] }),
      });
    await record(7, 'W-2');
    expect(await level()).toContain('lost its tail');
    expect(await found()).toEqual(['RECORD occupied', 'EVIDENCE occupied']);

    const [recordStream, evidence] = await restoreBus(parts());
    expect(recordStream).toMatchObject({ published: 2, kept: { derived: 1, appended: 0 } });
    expect(evidence).toMatchObject({
      published: 10,
      kept: { appended: 2, known: 1, derived: 0, 'set-aside': 1 },
      generation: { before: 1, after: 2 },
    });
    const after = await everything('EVIDENCE');
    expect(bare(after).slice(0, 10)).toEqual(before);
    expect(after.slice(10).map(({ messageId, subject, generation }) => [messageId ?? subject, generation])).toEqual([
      ['m-n1', 2],
      [subjects.policy('t'), 2],
    ]);
    expect(await model.writer.place(ARCHIVE_READER, 'EVIDENCE')).toMatchObject({ generation: 2, sequence: 10 });
    expect(await model.bus.generationEnd('EVIDENCE', 1)).toBe(10);
    expect([await fate(1, 10), await fate(1, 11), await fate(2, 11)]).toEqual(['kept', 'lost', 'current']);
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

import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Claims, connectPostgresClaims, createMemoryClaims, migrateClaims } from '../src/index.ts';

interface Subject {
  /** A view on the same claims as another process would have it. */
  connect(): Claims;
  /** Lets so many seconds of the store's clock go by. */
  elapse(seconds: number): Promise<void>;
}

/** What every adapter of the claim port must do. */
function describeClaims(name: string, start: () => Promise<Subject & { stop(): Promise<void> }>) {
  describe(name, () => {
    let subject: Awaited<ReturnType<typeof start>>;
    let one: Claims;
    let two: Claims;
    beforeAll(async () => {
      subject = await start();
      one = subject.connect();
      two = subject.connect();
    });
    afterAll(async () => {
      await one.close();
      await two.close();
      await subject.stop();
    });

    it('grants what is free and leaves what is held', async () => {
      expect(await one.acquire(['a1', 'a2', 'a1'], 'one', 60)).toHaveLength(2);
      const granted = await two.acquire(['a2', 'a3'], 'two', 60);
      expect(granted).toEqual([{ resource: 'a3', epoch: 1, holder: 'two' }]);
    });

    it('raises the epoch with each acquisition, after a release and after an expiry', async () => {
      const [first] = await one.acquire(['b'], 'one', 60);
      await one.release([first as never]);
      const [second] = await one.acquire(['b'], 'one', 0.05);
      await subject.elapse(0.2);
      const [third] = await two.acquire(['b'], 'two', 60);
      expect([first?.epoch, second?.epoch, third?.epoch]).toEqual([1, 2, 3]);
    });

    it('renews only what is still held with that epoch', async () => {
      const [lost] = await one.acquire(['c1'], 'one', 0.05);
      const [kept] = await one.acquire(['c2'], 'one', 60);
      await subject.elapse(0.2);
      await two.acquire(['c1'], 'two', 60);
      expect(await one.renew([lost as never, kept as never], 60)).toEqual([kept]);
    });

    it('never lets an older epoch give back the newer claim', async () => {
      const [old] = await one.acquire(['d'], 'one', 0.05);
      await subject.elapse(0.2);
      await one.acquire(['d'], 'one', 60);
      await one.release([old as never]);
      expect(await two.acquire(['d'], 'two', 60)).toEqual([]);
    });

    it('keeps what waits for its holder alone, fences the epoch, and gives a higher one at its return', async () => {
      const [held] = await one.acquire(['w'], 'one', 60);
      const [waiting] = await one.wait([held as never], 60);
      expect(waiting).toEqual({ resource: 'w', epoch: 2, holder: 'one' });
      expect(await one.renew([held as never, waiting as never], 60)).toEqual([]);
      expect(await two.acquire(['w'], 'two', 60)).toEqual([]);
      expect(await one.list('w')).toEqual([{ ...waiting, waiting: true }]);
      expect(await one.acquire(['w'], 'one', 60)).toEqual([{ resource: 'w', epoch: 3, holder: 'one' }]);
    });

    it('gives what waited too long to anybody', async () => {
      const [held] = await one.acquire(['w2'], 'one', 60);
      await one.wait([held as never], 0.05);
      await subject.elapse(0.2);
      expect(await two.acquire(['w2'], 'two', 60)).toEqual([{ resource: 'w2', epoch: 3, holder: 'two' }]);
    });

    it('answers a release with what was still held', async () => {
      const [first] = await one.acquire(['r'], 'one', 60);
      expect(await one.release([first as never])).toEqual([first]);
      expect(await one.release([first as never])).toEqual([]);
    });

    it('lists live claims by prefix, taking the prefix literally', async () => {
      await one.acquire(['e/1', 'e/2', 'e_3'], 'one', 60);
      expect((await two.list('e/')).map((claim) => claim.resource)).toEqual(['e/1', 'e/2']);
      expect((await two.list('e_')).map((claim) => claim.resource)).toEqual(['e_3']);
    });

    it('lists on from a name', async () => {
      expect((await one.list('e/', 'e/1')).map((claim) => claim.resource)).toEqual(['e/2']);
    });

    it('has one winner in each of 200 races, with strictly rising epochs', async () => {
      let last = 0;
      for (let round = 0; round < 200; round += 1) {
        const answers = await Promise.all([one.acquire(['race'], 'one', 60), two.acquire(['race'], 'two', 60)]);
        const won = answers.flat();
        expect(won).toHaveLength(1);
        expect(won[0]?.epoch).toBeGreaterThan(last);
        last = won[0]?.epoch ?? 0;
        await (won[0]?.holder === 'one' ? one : two).release(won);
      }
    });

    it('grants nothing at or below a floor, and never lowers it', async () => {
      await one.raiseFloor(5_000);
      await one.raiseFloor(10);
      const [known, fresh] = await one.acquire(['d2', 'race'], 'one', 60);
      expect(known?.epoch).toBeGreaterThan(5_000);
      expect(fresh?.epoch).toBeGreaterThan(5_000);
    });
  });
}

describeClaims('claims in memory', async () => {
  let now = 0;
  const claims = createMemoryClaims({ now: () => now });
  return {
    connect: () => claims,
    elapse: async (seconds) => {
      now += seconds * 1_000;
    },
    stop: async () => {},
  };
});

describeClaims('claims in Postgres', async () => {
  const server = await startPostgres();
  await migrateClaims(server.url);
  await migrateClaims(server.url);
  return {
    connect: () => connectPostgresClaims(server.url),
    // The lease is judged by the database's own clock, which a test cannot move.
    elapse: (seconds) => pause(seconds * 1_000),
    stop: () => server.stop(),
  };
});

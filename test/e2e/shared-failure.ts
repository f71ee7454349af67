import { eventually } from '@headway/testkit';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { endLeases } from '../harness/end-leases.ts';
import { claim, failed, passed } from '../harness/judged-work.ts';
import { type Services, startServices } from '../harness/services.ts';

/** Reading again after a kill. Milliseconds. */
const AGAIN = 60_000;
/** What everything but the kills, and each of these, may take at most on a busy machine. Milliseconds. */
const STARTING = 60_000;
const EACH_KILL = 15_000;

export interface SharedFailureSize {
  readonly fleet: number;
  /** Works that fail one gate in one way, and those of them that get through first. */
  readonly failingWorks: number;
  readonly firstThrough: number;
  /** Kills while the failures come in: a divisor of their number. */
  readonly kills: number;
}

/** A fleet of which many fail alike and get through later, while the classifier is killed: one signal, told once. */
export function describeSharedFailure({ fleet, failingWorks, firstThrough, kills }: SharedFailureSize): void {
  describe('one cause through the running services', () => {
    let services: Services;
    let listener: Awaited<ReturnType<typeof listen>>;
    beforeAll(async () => {
      services = await startServices();
      listener = await listen(services.natsUrl);
    });
    afterAll(async () => {
      await listener?.stop();
      await services?.stop();
    });

    it(`${failingWorks} of ${fleet} works fail alike: one signal, though the classifier is killed ${kills + 2} times`, {
      timeout: STARTING + (kills + 2) * EACH_KILL,
    }, async () => {
      const tenant = 'shared';
      const api = apiOf(services, tenant);
      const works = Array.from({ length: fleet }, (_, at) => `W-${at}`);
      const failing = works.slice(0, failingWorks);
      const openSignals = async (after: string | null) =>
        (await eventually(() => api.signals(after), { what: 'the signals of all evidence', within: AGAIN })).filter(
          ({ state }) => state === 'open',
        );

      await api.post(works.map((work) => claim(work)));
      // Killed again and again while the failures come in: before, between and after them, with nobody waiting for it.
      let position: string | null = null;
      for (let from = 0; from < failingWorks; from += failingWorks / kills) {
        const some = failing.slice(from, from + failingWorks / kills);
        position = (await api.post(some.flatMap((work) => [failed(work), failed(work), failed(work)]))).position;
        await restart();
      }
      position = (await api.post(works.slice(failingWorks).map((work) => passed(work)))).position;
      const [shared, ...others] = await openSignals(position);
      expect(others).toEqual([]);
      expect(shared).toMatchObject({ kind: 'shared-failure', gate: 'integration' });
      expect(shared?.works.toSorted()).toEqual(failing.toSorted());

      // Ten get through while it is killed: still the same one.
      position = (await api.post(failing.slice(0, firstThrough).map((work) => passed(work)))).position;
      await restart();
      const still = await openSignals(position);
      expect(still.map(({ signal }) => signal)).toEqual([shared?.signal]);
      expect(still[0]?.works).toHaveLength(failingWorks - firstThrough);

      // All get through: withdrawn.
      await services.kill('classifier');
      position = (await api.post(failing.slice(firstThrough).map((work) => passed(work)))).position;
      await endLeases(services.postgresUrl);
      await services.start('classifier');
      expect(await openSignals(position)).toEqual([]);
      const all = await api.signals(position);
      expect(all.find(({ signal }) => signal === shared?.signal)?.state).toBe('withdrawn');
      expect(all.filter(({ kind }) => kind === 'shared-failure')).toHaveLength(1);

      // What other tools heard: each signal once, by event id, and no more shared failures than there were.
      await listener.settled(tenant, all.length);
      expect(listener.raised(tenant, 'shared-failure')).toEqual([shared?.signal]);
      expect(listener.raised(tenant).toSorted()).toEqual(all.map(({ signal }) => signal).toSorted());
    });

    async function restart(): Promise<void> {
      await services.kill('classifier');
      await endLeases(services.postgresUrl);
      await services.start('classifier');
    }
  });
}

/** What a tool outside hears that subscribes to the public subjects and deduplicates by event id. */
async function listen(natsUrl: string) {
  const connection = await connect({ servers: natsUrl });
  const heard = new Map<string, { tenant: string; type: string; kind: string; signal: string }>();
  const subscription = connection.subscribe('trajectory.>');
  const ended = (async () => {
    for await (const message of subscription) {
      const told = message.json() as {
        id: string;
        type: string;
        tenant: string;
        data: { signal?: string; kind?: string };
      };
      const { kind = '', signal = '' } = told.data;
      heard.set(told.id, { tenant: told.tenant, type: told.type, kind, signal });
    }
  })();
  const raised = (tenant: string, kind?: string) =>
    [...heard.values()].flatMap((one) =>
      one.tenant === tenant && one.type === 'headway.signal.raised' && (kind === undefined || one.kind === kind)
        ? [one.signal]
        : [],
    );
  return {
    raised,
    settled: (tenant: string, signals: number) =>
      eventually(() => raised(tenant).length >= signals, { what: `${signals} signals on the public subjects` }),
    stop: async () => {
      await connection.drain();
      await ended;
    },
  };
}

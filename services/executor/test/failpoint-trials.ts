import { randomUUID } from 'node:crypto';
import { STREAMS, subjects } from '@headway/contracts';
import { verifyHistory } from '@headway/effects';
import { connectJetStreamLog, type EventLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DUE_MS } from '../src/executor.ts';
import { recordOf } from '../src/relay.ts';
import { type ExecutorProcess, type Field, MARGIN_MS, startField, TIMEOUT_MS } from './processes.ts';

/**
 * L1: what was STARTED leaves it within deadline, lease and sweep; then a look and a repeat, each once more within as much.
 * Doubled, since the machine of a test is slow.
 */
const SETTLED_WITHIN_MS = 2 * 2 * (TIMEOUT_MS + MARGIN_MS + 4 * DUE_MS);

/** Where, how the place is held open at the target, and by which signals (design 4.4). */
export const PLACES = [
  { name: 'c01', where: 'before PROPOSED is durable' },
  { name: 'c02', where: 'after PROPOSED is durable' },
  { name: 'c06', where: 'inside the start' },
  { name: 'c07', where: 'started, before the send' },
  { name: 'c08', where: 'in the middle of the request', after: 60, beforeEffectMs: 250 },
  { name: 'c09', where: 'applied, before the reply', after: 250, beforeAnswerMs: 900 },
  { name: 'c10', where: 'reply read, not settled' },
  { name: 'c11', where: "the settle's own answer lost" },
  { name: 'c12', where: 'settled, before it is published' },
  { name: 'c13', where: 'published, before it is marked' },
] as const;

export const KINDS = ['http', 'postgres.row'] as const;
export type Kind = (typeof KINDS)[number];

export interface Trial {
  readonly place: (typeof PLACES)[number];
  readonly kind: Kind;
  readonly signal: 'kill' | 'stop';
}

/** Ends or stops an executor at a place, beside another one that lives, and looks at what became of the effect. */
export function describeTrials(trials: readonly Trial[]): void {
  describe('an executor that is killed or stopped', () => {
    let field: Field;
    let log: EventLog;
    let survivor: ExecutorProcess;
    beforeAll(async () => {
      field = await startField();
      log = await connectJetStreamLog({ servers: field.nats.url, name: 'test' });
      survivor = await field.start();
      for (const kind of KINDS) {
        const policy = { kind, target: '*', maximumPerHour: 100_000, by: 'Ada', reason: 'tests' };
        expect((await field.call(survivor, 'POST', '/v1/effects/policies', policy)).status).toBe(201);
      }
    });
    afterEach(() => {
      field.standIn.faults = {};
    });
    afterAll(async () => {
      await log.close();
      await field.stop();
    });

    const requestOf = (kind: Kind, key: string) =>
      kind === 'http'
        ? { kind, key, target: `${field.standIn.origin}/notes`, inputs: { json: { key } } }
        : { kind, key, target: 'main/public.notes', inputs: { write: 'insert', key: { id: key }, set: { body: key } } };

    async function effectsOf(kind: Kind, key: string, operation: string): Promise<number> {
      if (kind === 'http') return field.standIn.effects.get(operation) ?? 0;
      const { rows } = await field.admin.query('select count(*)::int as n from public.writes where id = $1', [key]);
      return rows[0].n as number;
    }

    /** Nothing waits to be published, and the log tells the same whole history. */
    async function expectPublished(operation: string): Promise<void> {
      const { records } = (await field.call(survivor, 'GET', `/v1/effects/${operation}/history`)).body;
      expect(verifyHistory(operation, records)).toMatchObject({ ok: true });
      const subject = subjects.effect('default', operation);
      await eventually(async () => {
        const last = await log.last(STREAMS.effects, subject);
        return last !== null && recordOf(last)?.hash === records.at(-1).hash;
      });
      const published: number[] = [];
      const reading = new AbortController();
      const options = { stream: STREAMS.effects, filters: [subject], after: 0, batch: 100, signal: reading.signal };
      for await (const { messages, caughtUp } of log.read(options)) {
        published.push(...messages.map((message) => recordOf(message)?.version ?? -1));
        if (caughtUp) break;
      }
      reading.abort();
      expect(published).toEqual(records.map(({ version }: { version: number }) => version));
    }

    for (const { kind, signal, place } of trials)
      it(`${place.name} ${signal}, ${kind}: ${place.where}`, { timeout: 180_000 }, async () => {
        const key = randomUUID();
        const after = 'after' in place && kind === 'http' ? `@${place.after}` : '';
        if (kind === 'http')
          field.standIn.faults = {
            ...('beforeEffectMs' in place ? { beforeEffectMs: place.beforeEffectMs } : {}),
            ...('beforeAnswerMs' in place ? { beforeAnswerMs: place.beforeAnswerMs } : {}),
          };
        const victim = await field.start(`${place.name}=${signal}${after}`);
        const asked = field.call(victim, 'POST', '/v1/effects', requestOf(kind, key)).catch(() => null);
        if (signal === 'kill') await victim.ended;
        else await eventually(() => victim.stopped(), { what: 'the victim being stopped', within: 20_000 });
        field.standIn.faults = {};

        const again = await field.call(survivor, 'POST', '/v1/effects', requestOf(kind, key));
        expect([200, 202]).toContain(again.status);
        const { operation } = again.body;
        const settled = () =>
          eventually(
            async () => {
              const { body } = await field.call(survivor, 'GET', `/v1/effects/${operation}`);
              return body.state === 'SUCCEEDED' && body;
            },
            { within: SETTLED_WITHIN_MS, what: `${place.name} being settled` },
          );
        const view = await settled();
        if (signal === 'stop') {
          // z01, z02: the old owner wakes after all was settled without it.
          victim.signal('SIGCONT');
          await asked;
          await eventually(async () => (await fetch(`${victim.url}/healthz`)).ok);
        }
        expect(await effectsOf(kind, key, operation)).toBe(1);
        const end = (await field.call(survivor, 'GET', `/v1/effects/${operation}`)).body;
        expect(end.result).toEqual(view.result);
        await victim.end();
        expect(await effectsOf(kind, key, operation)).toBe(1);
        await expectPublished(operation);
      });
  });
}

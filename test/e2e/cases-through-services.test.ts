import { partitionOf, type SignalView, STREAMS, subjects } from '@headway/contracts';
import { connectJetStreamLog, type EventLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { type Case, readCases } from '../harness/cases.ts';
import { type Services, startServices } from '../harness/services.ts';

const cases = readCases();

describe.skipIf(cases.length === 0)(
  'labelled trajectories, of one work and of several, through the running services',
  () => {
    let services: Services;
    let log: EventLog;
    beforeAll(async () => {
      services = await startServices();
      log = await connectJetStreamLog({ servers: services.natsUrl, name: 'cases' });
    });
    afterAll(async () => {
      await log.close();
      await services.stop();
    });

    it.each(cases.map((example) => [example.name, example] as const))('%s', async (name, example) => {
      const tenant = name.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);
      const { view, signals } = await play(services, log, tenant, example);
      const { expect: wanted } = example;
      // A work without evidence is not there yet, and so not escalated either.
      if (example.events.length === 0) expect(view).toBeNull();
      else {
        if (wanted.class != null) expect(view?.class).toBe(wanted.class);
        if (wanted.rule != null) expect(view?.assessment?.rule).toBe(wanted.rule);
      }
      if (wanted.shared !== undefined) {
        const shared = signals.filter(({ kind, state }) => kind === 'shared-failure' && state === 'open');
        expect(shared.map(({ gate, works }) => ({ gate, works: works.toSorted() }))).toEqual(wanted.shared);
      }
      if (wanted.done !== undefined) expect(view?.phase.startsWith('done') ?? false).toBe(wanted.done);
      const inState = (state: SignalView['state']) => signals.filter((signal) => signal.state === state).length;
      if (wanted.signal !== undefined) expect(inState('open') > 0).toBe(wanted.signal);
      if (wanted.signals !== undefined) expect(signals).toHaveLength(wanted.signals);
      if (wanted.open !== undefined) expect(inState('open')).toBe(wanted.open);
      if (wanted.acknowledged !== undefined) expect(inState('acknowledged')).toBe(wanted.acknowledged);
      if (wanted.withdrawn !== undefined) expect(inState('withdrawn')).toBe(wanted.withdrawn);
      for (const forbidden of wanted.forbid ?? []) expect(view?.class).not.toBe(forbidden);
    });
  },
);

/** Posts the events of a case one run at a time: whatever a tick or a reply has to come after is waited for first. */
async function play(services: Services, log: EventLog, tenant: string, example: Case) {
  const api = apiOf(services, tenant);
  let position: string | null = null;
  let first: string | null = null;
  for (const [index, event] of example.events.entries()) {
    if (event.type === 'headway.monitor.ticked') {
      await tick(log, tenant, index);
      position = (await api.post([neighbourReport(tenant, index)])).position;
      continue;
    }
    const named = JSON.stringify(event).includes('$1');
    if (named) first ??= (await api.signals(position)).map((signal) => signal.signal).at(-1) ?? null;
    const text = JSON.stringify({
      specversion: '1.0',
      source: 'case',
      id: String(index),
      subject: 'W-1',
      ...event,
    }).replaceAll('$1', first ?? '$1');
    const answer = await api.post([JSON.parse(text)]).catch((error: unknown) => {
      // A report that conflicts is refused as a whole, and the refusal is a fact of the work.
      if (!String(error).includes('identity_conflict')) throw error;
      return null;
    });
    position = answer?.position ?? (await newest(log));
  }
  const view =
    example.events.length === 0
      ? await api.work('W-1', null).catch((error: unknown) => {
          if (!String(error).includes('work_not_found')) throw error;
          return null;
        })
      : await eventually(() => api.work('W-1', position), { what: `the view of ${example.name}` });
  return { view, signals: await api.signals(position) };
}

/** A tick of the monitor for the partition of the work, as ingest posts it. */
async function tick(log: EventLog, tenant: string, index: number): Promise<void> {
  const partition = partitionOf(tenant, 'W-1');
  const event = {
    specversion: '1.0',
    id: `tick-${tenant}-${index}`,
    source: 'headway/ingest',
    type: 'headway.monitor.ticked',
    data: {},
  };
  const answer = await log.append({
    subject: subjects.tick(partition),
    messageId: event.id,
    payload: Buffer.from(JSON.stringify({ v: 1, events: [event] })),
  });
  if (answer.outcome !== 'appended') throw new Error(`a tick was not taken: ${answer.outcome}`);
}

/**
 * A report of another work in the same partition. A view that covers it covers the tick before it too, which no report
 * of the work itself would tell without changing the case.
 */
function neighbourReport(tenant: string, index: number) {
  let neighbour = 0;
  while (partitionOf(tenant, `neighbour-${neighbour}`) !== partitionOf(tenant, 'W-1')) neighbour += 1;
  return {
    specversion: '1.0',
    source: 'case',
    id: `neighbour-${index}`,
    subject: `neighbour-${neighbour}`,
    type: 'headway.usage.recorded',
    data: { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z', reason: 'not measured' },
  };
}

async function newest(log: EventLog): Promise<string> {
  const stream = await log.describe(STREAMS.evidence);
  return `${STREAMS.evidence}:${stream.generation}:${stream.lastSequence}`;
}

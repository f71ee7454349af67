import { type DeadLetterView, type EvidenceEvent, type Page, type Problem, subjects } from '@headway/contracts';
import { connectJetStreamLog, type EventLog } from '@headway/eventlog';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { type Services, startServices } from '../harness/services.ts';

let services: Services;
let log: EventLog;
beforeAll(async () => {
  services = await startServices();
  log = await connectJetStreamLog({ servers: services.natsUrl, name: 'a later version of ingest' });
});
afterAll(async () => {
  await log?.close();
  await services?.stop();
});

const attempt = (work: string, id: string) => ({
  specversion: '1.0',
  source: 'test',
  id: `${work} ${id}`,
  subject: work,
  type: 'headway.gate.attempted',
  data: { gate: 'test', outcome: 'failed', exitCode: 1, failures: [{ key: 'a' }], diff: { hash: 'd1' } },
});

const ask = async <Body>(path: string, body?: object, token: string | null = services.token) => {
  const answer = await fetch(services.url('projection') + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Body };
};
const openLetters = async () =>
  (await ask<Page<DeadLetterView>>('/v1/deadletters')).body.items.map(({ letter }) => letter).sort();

/** A killed classifier's lease has to end before the next one takes over. */
const WITHIN = 240_000;

it(
  'a message of a later version holds its work in both services until an operator drops it',
  async () => {
    const api = apiOf(services);
    const first = await api.post([attempt('W-1', '1')]);
    await eventually(() => api.work('W-1', first.position));
    const future = { v: 2, events: [attempt('W-1', 'later')] as unknown as EvidenceEvent[] };
    const appended = await log.append({
      subject: subjects.evidence('default', 'W-1'),
      payload: Buffer.from(JSON.stringify(future)),
    });
    if (appended.outcome !== 'appended') throw new Error(appended.outcome);
    const place = `EVIDENCE-1-${appended.position.sequence}`;
    await api.post([attempt('W-1', '2'), attempt('W-2', '1')]);
    const { position } = await api.post([attempt('W-1', '3'), attempt('W-2', '2')]);

    const letters = [`classifier-${place}`, `projection-${place}`];
    await eventually(async () => String(await openLetters()) === String(letters), { within: 60_000 });
    const others = await api.work('W-2', position);
    expect(others).toMatchObject({ attempts: 2 });
    const held = await ask<Problem>(`/v1/works/W-1?after=${position}`);
    expect(held).toMatchObject({ status: 409, body: { code: 'work_held' } });
    expect(await api.work('W-1', null)).toMatchObject({ attempts: 1 });
    const metrics = await (await fetch(`${services.url('projection')}/metrics`)).text();
    expect(metrics).toMatch(/^headway_dead_letters\{reader="projection"\} 1$/m);
    expect(metrics).toMatch(/^headway_dead_letters\{reader="classifier"\} 1$/m);

    // Nothing was fixed: both fail again, and a start of the services changes nothing either.
    for (const letter of letters)
      expect((await ask(`/v1/deadletters/${letter}/retry`, { why: 'perhaps' })).status).toBe(202);
    for (const service of ['classifier', 'projection'] as const) {
      await services.kill(service);
      await services.start(service);
    }
    await eventually(
      async () => {
        expect(await openLetters()).toEqual(letters);
        const tried = await ask<DeadLetterView>(`/v1/deadletters/${letters[0]}`);
        return tried.body.attempts > 1;
      },
      { within: 60_000 },
    );

    for (const letter of letters)
      expect((await ask(`/v1/deadletters/${letter}/drop`, { why: 'x' }, null)).status).toBe(403);
    for (const letter of letters)
      expect((await ask(`/v1/deadletters/${letter}/drop`, { why: 'not ours', as: 'maria' })).status).toBe(202);
    await eventually(async () => (await api.work('W-1', position)).attempts === 3, {
      within: 60_000,
    });
    expect((await api.timeline('W-1')).filter(({ kind }) => kind === 'evidence').map(({ id }) => id)).toEqual([
      'W-1 1',
      'W-1 2',
      'W-1 3',
    ]);
    expect(await openLetters()).toEqual([]);
  },
  WITHIN,
);

import type { FleetReport, Page, PoliciesView, RecoverView, SignalView, StreamPosition } from '@headway/contracts';
import { encodeRecord, subjects } from '@headway/contracts';
import { createHttp } from '@headway/runtime';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCoverage } from '../src/coverage.ts';
import { mountReading } from '../src/routes/mount.ts';
import { assessed, assessment, attempt, evidence, fact, raised, signallerAt, signals, trajectory } from './records.ts';
import { startRig } from './rig.ts';

let server: TestPostgres;
const open: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  server = await startPostgres({ own: true });
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
afterAll(async () => {
  await server?.stop();
});

async function service() {
  const rig = await startRig(server);
  const projecting = rig.project();
  const { views } = rig.model;
  const app = createHttp({
    service: 'projection',
    logger: rig.logger,
    access: { operatorTokenSha256: null, loopbackOpen: true },
    checks: projecting.checks,
    publicHosts: [],
  });
  const endOf = async (stream: StreamPosition['stream']) => (await rig.log.describe(stream as 'EVIDENCE')).lastSequence;
  const covered = createCoverage({ views, watch: rig.watch, generationOf: projecting.generationOf, endOf });
  mountReading(app, { views, watch: rig.watch, covered });
  open.push({ stop: () => rig.stop() }, { stop: () => app.close() });
  const get = async <Body>(url: string): Promise<Body> => {
    const answer = await app.inject({ url });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json() as Body;
  };
  return { rig, app, get };
}

const claim = (over: object = {}) => fact('headway.work.claimed', { worker: 'w', orchestrator: 'o', ...over });
const joined = (signal: string, work: string) =>
  ({ type: 'headway.signal.joined', id: `j-${work}`, data: { signal, work } }) as const;
const acknowledged = (signal: string, works: string[]) =>
  ({
    type: 'headway.signal.acknowledged',
    id: `k-${signal}`,
    data: { signal, kind: 'stagnating', works, intent: 'AGREE', from: 'o', incarnations: works.map(() => 1) },
  }) as const;

describe('the signals', () => {
  test('are found by kind, by work, and in the inbox of whoever may answer, those of a work that joined too', async () => {
    const { rig, get } = await service();
    const [one, two] = [claim(), claim({ worker: 'late', orchestrator: 'boss' })];
    await rig.say(evidence('W-1', [one]), evidence('W-2', [two]));
    await rig.say(
      trajectory('W-1', 1, [assessed('W-1', one, assessment('same-failure'))]),
      trajectory('W-2', 2, [assessed('W-2', two, assessment('nothing-fired'))]),
      signals(1, [raised('s-1', ['W-1'])]),
      signals(2, [raised('s-2', ['W-1'], { kind: 'shared-failure' }), joined('s-2', 'W-2')]),
      signals(2, [acknowledged('s-1', ['W-1'])]),
      signallerAt(5),
    );
    await rig.settled();
    const ids = async (query: string) =>
      (await get<Page<SignalView>>(`/v1/signals?${query}`)).items.map(({ signal }) => signal);
    expect(await ids('')).toEqual(['s-2', 's-1']);
    expect(await ids('kind=shared-failure')).toEqual(['s-2']);
    expect(await ids('work=W-1&state=acknowledged')).toEqual(['s-1']);
    expect(await ids('work=W-2')).toEqual(['s-2']);
    expect(await ids('to=late')).toEqual(['s-2']);
    expect(await ids('to=boss&state=open')).toEqual(['s-2']);
    expect(await ids('to=nobody')).toEqual([]);
    const inbox = (await get<Page<SignalView>>('/v1/signals?to=boss')).items;
    expect(inbox[0]?.to).toEqual(expect.arrayContaining(['boss', 'late']));
  });
});

describe('recover', () => {
  test('proposes, ready to be copied, whatever the reports say, and does nothing', async () => {
    const { rig, get } = await service();
    const work = "it's $(odd); `w`";
    const events = [
      claim({ worker: "o'hara" }),
      fact('headway.delegation.opened', { delegation: 'd-1', child: 'W-9' }, { time: '2026-01-01T00:00:00Z' }),
      fact('headway.delegation.opened', { delegation: 'd-2' }),
      fact('headway.delegation.completed', { delegation: 'd-2' }),
      attempt(),
    ];
    await rig.say(evidence(work, events));
    await rig.say(
      trajectory(work, 1, [assessed(work, events[4] ?? attempt(), assessment('same-failure'))]),
      signals(1, [raised('s-1', [work])]),
      signallerAt(2),
    );
    await rig.settled();
    const before = await rig.log.describe('EVIDENCE');
    const view = await get<RecoverView>(`/v1/works/${encodeURIComponent(work)}/recover`);
    expect(view).toMatchObject({ work, signal: { signal: 's-1' }, none: null, moreDelegations: 0 });
    expect(view.openDelegations).toEqual([{ delegation: 'd-1', child: 'W-9', since: '2026-01-01T00:00:00Z' }]);
    expect(view.proposals.map(({ kind }) => kind)).toEqual(['propose', 'block']);
    const [propose, block] = view.proposals;
    expect(propose?.command).toContain(`headway signal send 'it'\\''s $(odd); \`w\`' --intent PROPOSE --thread s-1`);
    expect(propose?.command).toContain(`--to 'o'\\''hara'`);
    expect(propose?.event).toMatchObject({
      type: 'headway.signal.sent',
      subject: work,
      data: { intent: 'PROPOSE', inReplyTo: null, thread: 's-1', to: ["o'hara"] },
    });
    expect(block?.command).toMatch(/^headway work block /);
    expect(block?.event).toMatchObject({ type: 'headway.work.blocked', subject: work });
    expect((await rig.log.describe('EVIDENCE')).lastSequence).toBe(before.lastSequence);
  });

  test('has nothing to propose where no signal is open, and says so', async () => {
    const { rig, get } = await service();
    const made = attempt();
    await rig.say(evidence('W-1', [made]));
    await rig.say(trajectory('W-1', 1, [assessed('W-1', made, assessment('nothing-fired'))]), signallerAt(1));
    await rig.settled();
    expect(await get<RecoverView>('/v1/works/W-1/recover')).toMatchObject({
      proposals: [],
      none: expect.stringContaining('No signal is open'),
    });
  });
});

describe('the report', () => {
  test('of an empty fleet has no number that nobody measured, and says why', async () => {
    const { get } = await service();
    const report = await get<FleetReport>('/v1/report');
    const reason = { value: null, reason: expect.stringMatching(/\w/) };
    expect(report).toMatchObject({
      works: { total: 0 },
      signals: { raised: 0 },
      acknowledgement: { medianSeconds: reason, oldestOpenSeconds: reason },
      efficiency: { items: [], mean: reason },
      cost: { usd: reason },
      liveAtOnce: reason,
    });
  });

  test('tells classes, signals, efficiency, cost and agents live at once, and only of this tenant', async () => {
    const { rig, get } = await service();
    const recent = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
    const used = (from: number, to: number, costUsd: number | null) =>
      fact('headway.usage.recorded', {
        inputTokens: 80,
        outputTokens: 20,
        costUsd,
        startedAt: recent(from),
        endedAt: recent(to),
        reason: 'no price',
      });
    const done = fact('headway.work.done', { by: 'ci', criteriaMet: 1 });
    const passed = attempt({}, { outcome: 'passed' });
    const first = [
      claim({ sizing: { gateAttempts: 1, tokens: 100 }, criteria: ['a', 'b'] }),
      attempt(),
      passed,
      used(100, 50, 0.5),
      done,
    ];
    const second = [claim(), attempt(), used(80, 70, null)];
    await rig.say(evidence('W-1', first), evidence('W-2', second), evidence('X-1', [used(90, 60, 9)], 'other'));
    await rig.say(
      trajectory('W-1', 1, [assessed('W-1', done, assessment('pass-stands', { phase: 'done', active: false }))]),
      trajectory('W-2', 2, [assessed('W-2', second[1] ?? done, assessment('same-failure'))]),
      signals(2, [raised('s-1', ['W-2'])]),
      signallerAt(3),
    );
    await rig.settled();
    const report = await get<FleetReport>('/v1/report?days=1');
    expect(report.works).toMatchObject({
      total: 2,
      byClass: { productive: 1, stagnating: 1 },
      byPhase: { done: 1, claimed: 1 },
    });
    expect(report.signals).toMatchObject({ raised: 1, byKind: { stagnating: { open: 1, acknowledged: 0 } } });
    expect(report.acknowledgement.oldestOpenSeconds.value).toBeGreaterThanOrEqual(0);
    expect(report.efficiency.items).toMatchObject([
      {
        work: 'W-1',
        efficiency: expect.closeTo(Math.sqrt(0.5), 12),
        completion: 0.5,
        dimensions: [
          { dimension: 'gateAttempts', score: 0.5 },
          { dimension: 'tokens', score: 1 },
        ],
        missing: [{ dimension: 'commits' }],
      },
    ]);
    expect(report.cost).toEqual({
      usd: { value: 0.5, reason: null },
      worksMeasured: 1,
      worksPartly: 0,
      worksUnmeasured: 1,
    });
    expect(report.liveAtOnce).toMatchObject({ value: 2, spans: 2, clock: 'reported' });
  });

  test('lists done works page by page, all pages of the same time', async () => {
    const { rig, get } = await service();
    const works = ['W-1', 'W-2', 'W-3'];
    const done = works.map(() => fact('headway.work.done', { by: 'ci' }));
    await rig.say(...works.map((work, at) => evidence(work, [done[at] ?? attempt()])));
    await rig.say(
      ...works.map((work, at) =>
        trajectory(work, at + 1, [assessed(work, done[at] ?? attempt(), assessment('no-evidence', { phase: 'done' }))]),
      ),
    );
    await rig.settled();
    const seen: string[] = [];
    const ends = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: FleetReport = await get(`/v1/report?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.efficiency.items.map(({ work }) => work));
      ends.add(page.window.to);
      cursor = page.efficiency.next;
    }
    expect(seen.toSorted()).toEqual(works);
    expect(ends.size).toBe(1);
  });
});

describe('the policies', () => {
  const set = (version: number, lane: string | null, numbers: object | null, tenant = 'default') => ({
    subject: subjects.policy(tenant),
    payload: encodeRecord({
      v: 1,
      events: [
        {
          specversion: '1.0',
          id: `p-${tenant}-${version}`,
          source: 'headway/ingest',
          type: 'headway.policy.set',
          time: '2026-01-01T00:00:00Z',
          data: { version, lane, numbers, by: 'ana', why: 'because' },
        },
      ],
    }),
  });
  test('are the defaults until somebody sets them, then the newest of each lane, with who and why', async () => {
    const { rig, get } = await service();
    expect(await get<PoliciesView>('/v1/policy')).toMatchObject({
      version: 0,
      policies: [{ lane: null, version: 0, by: null, numbers: { sameFailure: 3 } }],
    });
    await rig.say(
      set(1, null, { sameFailure: 4 }),
      set(2, 'ui', { circling: 0 }),
      set(3, 'api', { circling: 9 }),
      set(4, 'api', null),
      set(1, null, { sameFailure: 9 }, 'other'),
    );
    await rig.settled();
    const view = await get<PoliciesView>('/v1/policy?after=EVIDENCE:1:4');
    expect(view.version).toBe(4);
    expect(view.policies).toMatchObject([
      {
        lane: null,
        version: 1,
        numbers: { sameFailure: 4, noMovement: 5 },
        differs: { sameFailure: 4 },
        why: 'because',
      },
      { lane: 'ui', version: 2, numbers: { sameFailure: 3, circling: 0 }, differs: { circling: 0 } },
    ]);
  });
});

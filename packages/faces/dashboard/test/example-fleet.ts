import type { Assessment, SignalView, TimelineEntry, TrajectoryClass, WorkView } from '@headway/contracts';

export const noon = Date.parse('2026-05-04T12:00:00.000Z');
export const minutesAgo = (minutes: number): string => new Date(noon - minutes * 60_000).toISOString();
const digest = (seed: string): string => seed.repeat(64).slice(0, 64);

export const assessment = (name: TrajectoryClass, over: Partial<Assessment> = {}): Assessment => ({
  incarnation: 1,
  class: name,
  rule: 'nothing-fired',
  gate: null,
  signature: null,
  diff: null,
  count: null,
  reason: 'Attempts and commits are there, and nothing shows that they got further.',
  failures: [],
  attempts: 1,
  delta: null,
  phase: 'claimed',
  active: true,
  raises: false,
  worker: 'claude-7',
  orchestrator: 'lead',
  failing: [],
  policy: 0,
  ...over,
});

export const work = (id: string, name: TrajectoryClass, over: Partial<WorkView> = {}): WorkView => ({
  work: id,
  worker: 'claude-7',
  orchestrator: 'lead',
  lane: null,
  incarnation: 1,
  phase: 'claimed',
  class: name,
  assessment: assessment(name),
  since: minutesAgo(5),
  attempts: 1,
  costUsd: 1.2,
  openSignal: null,
  updatedAt: minutesAgo(1),
  change: 1,
  ...over,
});

export const signal = (id: string, works: readonly string[], over: Partial<SignalView> = {}): SignalView => ({
  signal: id,
  kind: 'stagnating',
  state: 'open',
  works,
  incarnation: 1,
  rule: 'same-failure',
  gate: 'test',
  signature: digest('91be'),
  count: 3,
  reason: 'The gate test failed 3 times running with the same failing set on the same diff state.',
  to: ['lead'],
  raisedAt: minutesAgo(4),
  closedAt: null,
  closing: null,
  ...over,
});

const loop = digest('3f9a12cd');
const back = digest('b07e44aa');
const wake = digest('77c0de51');
const shared = digest('5ad2e09b');

const downtime = (id: string, worker: string, cost: number | null, change: number): WorkView =>
  work(id, 'stagnating', {
    worker,
    lane: 'checkout',
    since: minutesAgo(26),
    attempts: 4,
    costUsd: cost,
    openSignal: shared,
    change,
    assessment: assessment('stagnating', {
      rule: 'same-failure',
      gate: 'integration',
      count: 3,
      attempts: 4,
      reason: 'The gate integration failed 3 times running with the same failing set on the same diff state.',
      failures: ['payments/refund.spec.ts > refunds a captured charge > TimeoutError'],
      delta: { added: 0, removed: 0 },
    }),
  });

/** Twelve works as a fleet has them on a bad morning. */
export const works: readonly WorkView[] = [
  work('PAY-1184 migrate refunds to the ledger', 'thrashing', {
    worker: 'codex-3',
    lane: 'payments',
    since: minutesAgo(71),
    attempts: 14,
    costUsd: 18.43,
    openSignal: back,
    change: 41,
    assessment: assessment('thrashing', {
      rule: 'revert',
      gate: 'test',
      count: 2,
      attempts: 14,
      reason:
        'src/ledger/post.ts came back to 2 states that it had left, each time with a failure of test that was there before.',
      failures: [
        'ledger/post.test.ts > posts a refund once > AssertionError',
        'ledger/post.test.ts > keeps the balance > AssertionError',
        'ledger/replay.test.ts > replays > AssertionError',
      ],
      delta: { added: 38, removed: 41 },
    }),
  }),
  work('W-1', 'stagnating', {
    worker: 'claude-7',
    lane: 'search',
    since: minutesAgo(12),
    attempts: 5,
    costUsd: 3.07,
    openSignal: loop,
    change: 40,
    assessment: assessment('stagnating', {
      rule: 'same-failure',
      gate: 'test',
      count: 3,
      attempts: 5,
      reason: 'The gate test failed 3 times running with the same failing set on the same diff state.',
      failures: ['search/index.test.ts > ranks exact matches first > AssertionError'],
      delta: { added: 12, removed: 3 },
    }),
  }),
  downtime('CHK-301', 'gemini-2', 2.9, 36),
  downtime('CHK-302', 'claude-4', null, 37),
  work('DOC-77 rewrite the upgrade guide', 'awaiting-wake', {
    worker: 'cursor-1',
    lane: 'docs',
    since: minutesAgo(34),
    attempts: 2,
    costUsd: 0.61,
    openSignal: wake,
    change: 33,
    assessment: assessment('awaiting-wake', {
      rule: 'passed-prep',
      gate: 'lint',
      attempts: 2,
      reason: 'The last thing that happened is that lint passed at stage prep; nobody told the worker to go on.',
    }),
  }),
  work('INF-9 pin base images', 'unknown', {
    worker: 'copilot-5',
    lane: 'infra',
    since: minutesAgo(18),
    attempts: 3,
    costUsd: null,
    change: 30,
    assessment: assessment('unknown', {
      rule: 'infrastructure',
      gate: 'build',
      count: 3,
      attempts: 3,
      reason: 'The last 3 attempts are errored: the registry did not answer.',
    }),
  }),
  work('API-42', 'unknown', {
    worker: null,
    lane: null,
    phase: 'unclaimed',
    since: null,
    attempts: 0,
    costUsd: null,
    change: 3,
    assessment: null,
  }),
  work('WEB-310 keyboard trap in the date picker', 'slow', {
    worker: 'claude-9',
    lane: 'web',
    since: minutesAgo(9),
    attempts: 2,
    costUsd: 1.1,
    change: 28,
  }),
  work('WEB-311', 'productive', {
    worker: 'claude-2',
    lane: 'web',
    since: minutesAgo(3),
    attempts: 6,
    costUsd: 4.72,
    change: 39,
    assessment: assessment('productive', {
      rule: 'set-shrank',
      gate: 'test',
      attempts: 6,
      reason: 'The failing set of test went from 9 keys to 4.',
    }),
  }),
  work('SRCH-12', 'productive', {
    worker: 'codex-1',
    lane: 'search',
    since: minutesAgo(1),
    attempts: 3,
    costUsd: 0.004,
    change: 42,
    assessment: assessment('productive', {
      rule: 'pass-stands',
      gate: 'test',
      attempts: 3,
      reason: 'test passes on the present diff state.',
    }),
  }),
  work('SRCH-13', 'productive', {
    worker: 'codex-1',
    lane: 'search',
    phase: 'blocked',
    since: minutesAgo(50),
    attempts: 2,
    costUsd: 0.8,
    change: 20,
    assessment: assessment('productive', {
      rule: 'pass-stands',
      gate: 'lint',
      attempts: 2,
      reason: 'lint passes on the present diff state.',
      phase: 'blocked',
      active: false,
    }),
  }),
  work('PAY-1180', 'productive', {
    worker: 'codex-3',
    lane: 'payments',
    phase: 'done',
    since: minutesAgo(180),
    attempts: 7,
    costUsd: 6.2,
    change: 11,
    assessment: assessment('productive', {
      rule: 'pass-stands',
      gate: 'test',
      attempts: 7,
      reason: 'test passes on the present diff state.',
      phase: 'done',
      active: false,
    }),
  }),
];

export const signals: readonly SignalView[] = [
  signal(back, ['PAY-1184 migrate refunds to the ledger'], {
    kind: 'thrashing',
    rule: 'revert',
    count: 2,
    reason: works[0]?.assessment?.reason ?? '',
    raisedAt: minutesAgo(70),
  }),
  signal(loop, ['W-1'], { raisedAt: minutesAgo(12) }),
  signal(shared, ['CHK-301', 'CHK-302'], {
    kind: 'shared-failure',
    rule: null,
    gate: 'integration',
    signature: digest('c4d1'),
    count: null,
    incarnation: null,
    reason:
      'The newest verdict of integration failed with the same failing set in 2 works: the cause is likely outside of each.',
    raisedAt: minutesAgo(31),
  }),
  signal(wake, ['DOC-77 rewrite the upgrade guide'], {
    kind: 'awaiting-wake',
    rule: 'passed-prep',
    gate: 'lint',
    signature: null,
    count: 2,
    raisedAt: minutesAgo(32),
  }),
];

let entries = 0;
const fact = (kind: TimelineEntry['kind'], type: string, minutes: number, data: unknown): TimelineEntry => {
  entries += 1;
  return {
    entry: entries,
    position: `EVIDENCE:1:${entries}`,
    kind,
    type,
    id: `e${entries}`,
    incarnation: 1,
    time: minutesAgo(minutes),
    recordedAt: minutesAgo(minutes),
    data,
  };
};
const attempt = (minutes: number, outcome: string, over: Record<string, unknown> = {}): TimelineEntry =>
  fact('evidence', 'headway.gate.attempted', minutes, {
    gate: 'test',
    outcome,
    stage: 'prep',
    durationMs: 8_400,
    diff: { hash: digest('e1'), added: 12, removed: 3 },
    ...(outcome === 'failed' && {
      failures: [{ key: 'search/index.test.ts > ranks exact matches first > AssertionError' }],
      signature: { version: 1, value: digest('91be'), tool: 'vitest' },
    }),
    ...over,
  });
const judged = (minutes: number, name: TrajectoryClass, over: Partial<Assessment>): TimelineEntry =>
  fact('assessment', 'headway.work.assessed', minutes, assessment(name, over));

/** How W-1 came to stagnate. */
export const timeline: readonly TimelineEntry[] = [
  fact('evidence', 'headway.work.claimed', 64, { worker: 'claude-7', orchestrator: 'lead', lane: 'search' }),
  judged(64, 'unknown', { rule: 'no-evidence', reason: 'Neither a verdict nor a commit is there.' }),
  attempt(58, 'failed', {
    failures: [
      { key: 'search/index.test.ts > ranks exact matches first > AssertionError' },
      { key: 'search/index.test.ts > ignores case > AssertionError' },
    ],
  }),
  judged(58, 'slow', {}),
  fact('evidence', 'headway.edit.recorded', 55, { path: 'search/index.ts', before: 'a', after: 'b' }),
  fact('evidence', 'headway.commit.recorded', 51, {
    sha: '8f31c0de9a',
    files: [{ path: 'search/index.ts', added: 12, removed: 3 }],
  }),
  attempt(49, 'failed'),
  judged(49, 'productive', {
    rule: 'set-shrank',
    gate: 'test',
    reason: 'The failing set of test went from 2 keys to 1.',
  }),
  fact('evidence', 'headway.checkpoint.recorded', 47, { by: 'worker', note: 'Case folding works; ranking next.' }),
  attempt(33, 'errored', { diff: null }),
  fact('evidence', 'headway.usage.recorded', 30, {
    costUsd: null,
    inputTokens: 182_000,
    outputTokens: 9_100,
    reason: 'the harness reports no cost',
  }),
  attempt(22, 'failed'),
  attempt(12, 'failed'),
  judged(12, 'stagnating', { rule: 'same-failure', gate: 'test', reason: works[1]?.assessment?.reason ?? '' }),
  fact('signal', 'headway.signal.raised', 12, {
    signal: loop,
    kind: 'stagnating',
    works: ['W-1'],
    to: ['lead'],
    reason: works[1]?.assessment?.reason ?? '',
  }),
];

export const brief = `# Trajectory redirect

- class: stagnating, by same-failure
- gate: test, 3 attempts, signature 91be91be91
- last diff delta: +12 -3
- signal: 3f9a12cd3f, as of EVIDENCE:1:233

The same check failed three times on an unchanged tree.

## Acceptance criteria

1. Exact matches rank first.
`;

export const page = { tenant: 'default', change: 42, position: 'EVIDENCE:1:233', now: noon } as const;

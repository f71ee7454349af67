/** One thing that happens in the demo, and what a person should look at afterwards. */
export interface Step {
  readonly title: string;
  /** Said before it happens: what the agents do. */
  readonly says: string;
  readonly events: readonly DemoEvent[];
  /** Works whose class is told afterwards. */
  readonly look: readonly string[];
  /** Said after the classes: what to make of them. */
  readonly lesson: string;
  /** Answers the open signal of this work, as `as`. */
  readonly acknowledges?: {
    readonly work: string;
    readonly as: string;
    readonly intent: 'AGREE' | 'REJECT';
    readonly text: string;
  };
}

export interface DemoEvent {
  readonly work: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const ORCHESTRATOR = 'demo-lead';

/**
 * The play: a small fleet in which one work is healthy, one loops, one is flaky, one is hit by an outage and three share
 * a failure; then two signals are acknowledged. `run` sets its works and failures apart from those of other runs.
 */
export function demoScript(run: string, now: number): readonly Step[] {
  const id = (name: string) => `demo-${run}-${name}`;
  const [healthy, looping, flaky, outage] = ['healthy', 'looping', 'flaky', 'outage'].map(id) as [
    string,
    string,
    string,
    string,
  ];
  const shared = ['shared-1', 'shared-2', 'shared-3'].map(id);
  const all = [healthy, looping, flaky, outage, ...shared];
  const key = (name: string) => `${name} (demo ${run})`;
  const totals = key('checkout.test.ts > totals are rounded');
  const coupons = key('checkout.test.ts > coupons expire');
  const login = key('session.test.ts > login survives a restart');
  const database = key('integration > connects to the orders database');

  return [
    {
      title: 'Seven agents take seven works',
      says: `Each claims one, and names ${ORCHESTRATOR} as the one who is told when it goes in circles.`,
      events: all.map((work, at) => claimed(work, `demo-agent-${at + 1}`)),
      look: [],
      lesson: 'Nothing is judged yet: a claim alone is no evidence of getting anywhere.',
    },
    {
      title: 'A healthy work',
      says: `${healthy} fails two tests, then one, on a diff that moves.`,
      events: [failed(healthy, 'test', 'a1', [totals, coupons]), failed(healthy, 'test', 'a2', [totals])],
      look: [healthy],
      lesson: 'Fewer failures than before is progress, so nobody is bothered.',
    },
    {
      title: 'A work that loops',
      says: `${looping} runs the same failing test three times and changes nothing in between.`,
      events: times(3, () => failed(looping, 'test', 'b1', [login])),
      look: [looping],
      lesson: 'To any liveness check it looks busy. One signal is open now, however often it goes on.',
    },
    {
      title: 'A flaky test',
      says: `${flaky} fails, passes and fails on one and the same diff.`,
      events: [
        failed(flaky, 'test', 'c1', [coupons]),
        passed(flaky, 'test', 'c1'),
        failed(flaky, 'test', 'c1', [coupons]),
      ],
      look: [flaky],
      lesson: 'The gate contradicts itself, so the work is not blamed: unknown, and no signal.',
    },
    {
      title: 'An outage',
      says: `${outage} cannot even start its gates: the network is away, three times.`,
      events: ['lint', 'test', 'build'].map((gate) => errored(outage, gate)),
      look: [outage],
      lesson: 'A gate that gives no verdict is the fleet’s problem, not the worker’s.',
    },
    {
      title: 'One cause, three works',
      says: `Three works fail the gate integration in the same way, each on a diff of its own.`,
      events: shared.map((work, at) => failed(work, 'integration', `s${at}`, [database])),
      look: shared,
      lesson:
        'Each failed only once, so each by itself is slow; together they show one cause. One signal, and whoever answers it answers for all three.',
    },
    {
      title: 'The lead answers the loop',
      says: `${ORCHESTRATOR} agrees on the thread of the signal of ${looping}.`,
      events: [],
      look: [looping],
      lesson: 'Acknowledged: silent until there is fresh evidence. The redirect is gone from its brief.',
      acknowledges: { work: looping, as: ORCHESTRATOR, intent: 'AGREE', text: 'It looks at the session store first.' },
    },
    {
      title: 'The lead answers the shared failure',
      says: `${ORCHESTRATOR} agrees once, for every work in it.`,
      events: [],
      look: shared.slice(0, 1),
      lesson: 'One answer, three works.',
      acknowledges: {
        work: shared[0] as string,
        as: ORCHESTRATOR,
        intent: 'AGREE',
        text: 'The database is being restarted.',
      },
    },
    {
      title: 'The healthy work gets done',
      says: `${healthy} passes its last gate, and CI says it is done.`,
      events: [
        passed(healthy, 'test', 'a3', 'done'),
        {
          work: healthy,
          type: 'headway.commit.recorded',
          data: { sha: `${run}a3`, files: [], diff: { hash: `${run}a3` } },
        },
        usage(healthy, now),
        { work: healthy, type: 'headway.work.done', data: { by: 'ci', criteriaMet: 1 } },
      ],
      look: [healthy],
      lesson: 'Done, and scored against its own estimate: `headway report`.',
    },
  ];

  function claimed(work: string, worker: string): DemoEvent {
    const data = {
      worker,
      orchestrator: ORCHESTRATOR,
      lane: 'demo',
      criteria: ['The tests pass.'],
      sizing: { gateAttempts: 2, commits: 1, tokens: 40_000 },
    };
    return { work, type: 'headway.work.claimed', data };
  }
  function attempted(work: string, gate: string, data: object): DemoEvent {
    return { work, type: 'headway.gate.attempted', data: { gate, ...data } };
  }
  function failed(work: string, gate: string, diff: string, keys: readonly string[]): DemoEvent {
    const failures = keys.map((one) => ({ key: one }));
    return attempted(work, gate, { outcome: 'failed', exitCode: 1, failures, diff: { hash: `${run}${diff}` } });
  }
  function passed(work: string, gate: string, diff: string, stage = 'bare'): DemoEvent {
    return attempted(work, gate, { outcome: 'passed', exitCode: 0, stage, diff: { hash: `${run}${diff}` } });
  }
  function errored(work: string, gate: string): DemoEvent {
    return attempted(work, gate, { outcome: 'errored', output: 'getaddrinfo EAI_AGAIN registry.example', diff: null });
  }
}

const times = <Value>(count: number, make: () => Value): Value[] => Array.from({ length: count }, make);

const MINUTE = 60_000;

const usage = (work: string, now: number): DemoEvent => ({
  work,
  type: 'headway.usage.recorded',
  data: {
    inputTokens: 45_000,
    outputTokens: 5_000,
    costUsd: 0.42,
    startedAt: new Date(now - 5 * MINUTE).toISOString(),
    endedAt: new Date(now).toISOString(),
  },
});

/** Every work of the play. */
export const demoWorks = (steps: readonly Step[]): readonly string[] => [
  ...new Set(steps.flatMap(({ events }) => events.map(({ work }) => work))),
];

import { UNCHANGED_DIFF } from '@headway/contracts';
import fc from 'fast-check';
import type { Told } from './reference.ts';

/** A told event, or a reply to one of the signals raised so far (counted from the newest). */
export type Move = { readonly event: Told } | { readonly reply: Reply };
export interface Reply {
  readonly back: number;
  readonly from: string;
  readonly intent: string;
  readonly elsewhere: boolean;
  readonly subject: string;
}

const of = <Value>(...values: Value[]) => fc.constantFrom(...values);
const chance = (value: number) => fc.nat(99).map((at) => at < value);

/** How a report tells its diff state: with the files, without, as `null`, or not at all. */
type Telling = 'files' | 'hash' | 'null' | 'absent';
const path = of('a', 'a', 'b');

type Op =
  | { op: 'write'; path: string; content: string; edit: boolean }
  | {
      op: 'attempt';
      gate: string;
      stage: string | undefined;
      outcome: string;
      keys: readonly string[];
      odd: string;
      diff: Telling;
      write: { path: string; content: string } | null;
    }
  | { op: 'commit'; diff: Telling }
  | { op: 'checkpoint'; by: string; diff: Telling }
  | { op: 'delegation'; opened: boolean; id: string }
  | { op: 'claim'; incarnation: number | undefined; sizing: number; worker: string }
  | { op: 'plain'; type: string }
  | { op: 'done'; by: string | undefined }
  | { op: 'again'; back: number; other: boolean }
  | { op: 'tick' }
  | ({ op: 'reply' } & Omit<Reply, 'subject'>);
type Said = { work: number; op: Op; incarnation: number | undefined; times: number };

interface Taste {
  /** Weights of attempts, moves of files, and everything of a work's life. */
  readonly weights: readonly [attempts: number, writes: number, life: number];
  readonly gates: readonly string[];
  readonly stages: readonly (string | undefined)[];
  readonly outcomes: readonly string[];
  readonly keys: readonly (readonly string[])[];
  readonly tellings: readonly Telling[];
  readonly contents: readonly string[];
  readonly times: readonly number[];
}
const any: Taste = {
  weights: [26, 4, 1],
  gates: ['test', 'test', 'test', 'lint', 'types'],
  stages: ['prep', 'prep', 'prep', 'bare', 'done', undefined],
  outcomes: ['failed', 'failed', 'failed', 'failed', 'failed', 'passed', 'passed', 'errored'],
  keys: [['t1'], ['t1'], ['t1'], ['t2'], ['t1', 't2'], ['t2', 't1'], ['t1', 't2', 't3'], []],
  tellings: ['hash', 'hash', 'hash', 'files', 'files', 'null', 'absent'],
  contents: ['0', '1', '2'],
  times: [1, 1, 1, 1, 1, 2, 3, 5],
};
/** What the random histories like: each shows other rules. */
export const tastes = {
  any,
  /** Back and forth between few states, with known failures. */
  returns: {
    ...any,
    weights: [30, 10, 0.3],
    gates: ['test', 'test', 'test', 'lint'],
    outcomes: [...Array.from({ length: 12 }, () => 'failed'), 'passed'],
    keys: [['t1'], ['t1'], ['t1'], ['t1'], ['t2'], []],
    tellings: ['hash', 'hash', 'files', 'files', 'files', 'null'],
    times: [1],
  },
  /** Long runs of one gate. */
  runs: {
    ...any,
    weights: [40, 8, 0.2],
    gates: ['test', 'test', 'test', 'test', 'lint'],
    stages: ['prep', 'prep', 'prep', 'prep', 'prep', 'bare'],
    outcomes: ['failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'passed', 'errored'],
    keys: [['t1'], ['t1'], ['t1'], ['t1'], ['t2'], ['t1', 't2'], ['t1', 't2', 't3'], ['t1', 't2']],
    tellings: ['hash', 'hash', 'hash', 'hash', 'hash', 'files', 'null'],
    times: [1, 1, 2, 3, 4],
  },
  /** What becomes of works and their signals. */
  life: {
    ...any,
    weights: [14, 2, 4],
    gates: ['test', 'test', 'lint'],
    keys: [['t1'], ['t1'], ['t1'], ['t1', 't2']],
    tellings: ['hash', 'hash', 'files', 'absent'],
    contents: ['0', '1'],
    times: [1, 2, 3, 3],
  },
} as const satisfies Record<string, Taste>;

const attempt = (taste: Taste) =>
  fc.record({
    op: fc.constant('attempt' as const),
    gate: of(...taste.gates),
    stage: of(...taste.stages),
    outcome: of(...taste.outcomes),
    keys: of(...taste.keys),
    odd: of('', '', '', '', '', '', '', '', '', '', 'empty output', 'output', 'exit 126', 'exit 127', 'blank output'),
    diff: of(...taste.tellings),
    write: fc.option(fc.record({ path, content: of(...taste.contents) }), { freq: 2 }),
  });
const operations = (taste: Taste): fc.Arbitrary<Op> =>
  fc.oneof(
    { arbitrary: attempt(taste), weight: taste.weights[0] * 10 },
    {
      arbitrary: fc.record({
        op: fc.constant('write' as const),
        path,
        content: of(...taste.contents),
        edit: fc.boolean(),
      }),
      weight: taste.weights[1] * 10,
    },
    {
      arbitrary: fc.record({ op: fc.constant('commit' as const), diff: of(...taste.tellings) }),
      weight: 20 * taste.weights[2],
    },
    {
      arbitrary: fc.record({
        op: fc.constant('checkpoint' as const),
        by: of('worker', 'worker', 'subagent-stop', 'harness'),
        diff: of(...taste.tellings),
      }),
      weight: 30 * taste.weights[2],
    },
    {
      arbitrary: fc.record({ op: fc.constant('delegation' as const), opened: fc.boolean(), id: of('c1', 'c2') }),
      weight: 20 * taste.weights[2],
    },
    {
      arbitrary: fc.record({
        op: fc.constant('claim' as const),
        incarnation: of(undefined, 1, 2),
        sizing: fc.nat(6),
        worker: of('w', 'v'),
      }),
      weight: 10 * taste.weights[2],
    },
    {
      arbitrary: fc.record({
        op: fc.constant('plain' as const),
        type: of(
          'wake.delivered',
          'usage.recorded',
          'work.blocked',
          'work.unblocked',
          'work.unblocked',
          'work.released',
        ),
      }),
      weight: 20 * taste.weights[2],
    },
    {
      arbitrary: fc.record({ op: fc.constant('done' as const), by: of('worker', 'ci', undefined) }),
      weight: 10 * taste.weights[2],
    },
    {
      arbitrary: fc.record({ op: fc.constant('again' as const), back: fc.nat(4), other: fc.boolean() }),
      weight: 10 * taste.weights[2],
    },
    { arbitrary: fc.constant({ op: 'tick' as const }), weight: 40 * taste.weights[2] },
    {
      arbitrary: fc.record({
        op: fc.constant('reply' as const),
        back: of(0, 0, 0, 1, 2),
        from: of('w', 'w', 'v', 'lead', 'stranger'),
        intent: of('AGREE', 'AGREE', 'REJECT', 'INFORM'),
        elsewhere: chance(10),
      }),
      weight: 30 * taste.weights[2],
    },
  );

/** Short histories of a few works that live in few diff states, with few gates and few failures. */
export const histories = (works: number, length: number, taste: Taste = any): fc.Arbitrary<Move[]> =>
  fc
    .record({
      claimed: fc.array(fc.nat(6), { minLength: works, maxLength: works }),
      said: fc.array(
        fc.record({
          work: fc.nat(works - 1),
          op: operations(taste),
          incarnation: of(...Array.from({ length: 20 }, () => undefined), 0, 1, 1, 2),
          times: of(...taste.times),
        }),
        { minLength: 3, maxLength: length, size: 'max' },
      ),
    })
    .map(({ claimed, said }) => told([...claimed.flatMap(claimsFirst), ...said]));

/** 0: nobody claimed it. */
const claimsFirst = (sizing: number, work: number): Said[] =>
  sizing === 0
    ? []
    : [
        {
          work,
          op: { op: 'claim', incarnation: undefined, sizing: sizing - 1, worker: 'w' },
          incarnation: undefined,
          times: 1,
        },
      ];

const sizings = [
  undefined,
  {},
  { gateAttempts: 1, commits: 1 },
  { gateAttempts: 3 },
  { toolCalls: 6, files: 2 },
  { gateAttempts: 90 },
  { gateAttempts: 0 },
];

const repeats = ({ op }: Op): boolean => op === 'attempt' || op === 'tick';

function told(said: readonly Said[]): Move[] {
  const trees = new Map<string, Record<string, string>>();
  const moves: Move[] = [];
  const repeated = said.flatMap((one) => Array.from({ length: repeats(one.op) ? one.times : 1 }, () => one));
  for (const [at, { work, op, incarnation }] of repeated.entries()) {
    const subject = `W-${work + 1}`;
    const tree = trees.get(subject) ?? { a: '0', b: '0' };
    trees.set(subject, tree);
    const tell = (type: string, data: unknown, scope = incarnation) =>
      moves.push({
        event: {
          type: `headway.${type}`,
          source: 's',
          id: `${at}`,
          subject,
          ...(scope === undefined ? {} : { incarnation: scope }),
          data,
        },
      });
    switch (op.op) {
      case 'write':
        if (op.edit) tell('edit.recorded', { path: op.path, before: hashOf(tree[op.path]), after: hashOf(op.content) });
        tree[op.path] = op.content;
        break;
      case 'attempt':
        if (op.write !== null) tree[op.write.path] = op.write.content;
        tell('gate.attempted', attempted(op, diffOf(tree, op.diff)));
        break;
      case 'commit':
        tell('commit.recorded', { sha: `${at}`, files: [], ...diffOf(tree, op.diff) });
        break;
      case 'checkpoint':
        tell('checkpoint.recorded', { by: op.by, ...diffOf(tree, op.diff) });
        break;
      case 'delegation':
        tell(`delegation.${op.opened ? 'opened' : 'completed'}`, { delegation: op.id });
        break;
      case 'claim': {
        const sizing = sizings[op.sizing];
        tell(
          'work.claimed',
          { worker: op.worker, orchestrator: 'lead', ...(sizing === undefined ? {} : { sizing }) },
          op.incarnation,
        );
        break;
      }
      case 'done':
        tell('work.done', op.by === undefined ? {} : { by: op.by });
        break;
      case 'plain':
        tell(
          op.type,
          op.type === 'usage.recorded' ? { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z' } : {},
        );
        break;
      case 'again': {
        const earlier = moves
          .flatMap((move) => ('event' in move && move.event.subject !== undefined ? [move.event] : []))
          .at(-1 - op.back);
        if (earlier === undefined) break;
        moves.push({ event: op.other ? { ...earlier, data: { ...earlier.data, note: `${at}` } } : earlier });
        break;
      }
      case 'tick':
        moves.push({ event: { type: 'headway.monitor.ticked', source: 'm', id: `${at}`, data: {} } });
        break;
      case 'reply':
        moves.push({ reply: { back: op.back, from: op.from, intent: op.intent, elsewhere: op.elsewhere, subject } });
    }
  }
  return moves;
}

/** File content 2 is the file's absence. */
const hashOf = (value: string | undefined): string | null => (value === '2' ? null : `f${value}`);

function diffOf(tree: Record<string, string>, how: Telling): { diff?: unknown } {
  if (how === 'absent') return {};
  if (how === 'null') return { diff: null };
  const changed = Object.entries(tree).filter(([, value]) => value !== '0');
  const hash = changed.length === 0 ? UNCHANGED_DIFF : changed.map((one) => one.join('')).join('-');
  if (how === 'hash') return { diff: { hash } };
  return { diff: { hash, files: changed.map(([name, value]) => ({ path: name, hash: hashOf(value) })) } };
}

function attempted(op: Extract<Op, { op: 'attempt' }>, diff: { diff?: unknown }) {
  const failures = op.outcome === 'failed' ? { failures: op.keys.map((key) => ({ key })) } : {};
  const odd = {
    '': {},
    output: { output: '???' },
    'empty output': { output: '' },
    'blank output': { output: ' \n' },
    'exit 126': { exitCode: 126 },
    'exit 127': { exitCode: 127 },
  }[op.odd];
  const { gate: name, outcome } = op;
  return { gate: name, outcome, ...(op.stage === undefined ? {} : { stage: op.stage }), ...failures, ...odd, ...diff };
}

import {
  type Assessment,
  type FleetReport,
  type Measured,
  type PositionText,
  type SignalKind,
  type SignalView,
  type TrajectoryClass,
  trajectoryClasses,
  type WorkEfficiency,
} from '@headway/contracts';
import { REPORT_SPANS, type ReportCounts, type WorkRow } from '@headway/readmodel';
import { efficiencyOf, liveAtOnce, type Span } from '@headway/trajectory';

const phases = [
  'unclaimed',
  'claimed',
  'blocked',
  'released',
  'done-claimed',
  'done',
] as const satisfies Assessment['phase'][];
const kinds = ['stagnating', 'thrashing', 'awaiting-wake', 'shared-failure'] as const satisfies SignalKind[];
const states = ['open', 'acknowledged', 'withdrawn', 'superseded'] as const satisfies SignalView['state'][];

export interface Reporting {
  readonly position: PositionText;
  readonly days: number;
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
  readonly counts: ReportCounts;
  readonly done: readonly WorkRow[];
  readonly next: string | null;
  readonly spans: readonly Span[];
}

/** The fleet report over what was counted. Pure. */
export function fleetReport({ position, days, from, to, counts, done, next, spans }: Reporting): FleetReport {
  const { acknowledged } = counts;
  const none = 'No signal that was raised in this time was acknowledged.';
  return {
    position,
    window: { days, from: iso(from), to: iso(to) },
    works: worksOf(counts),
    signals: signalsOf(counts),
    acknowledgement: {
      clock: 'recorded',
      acknowledged: acknowledged.count,
      medianSeconds: measured(acknowledged.median, none),
      p90Seconds: measured(acknowledged.p90, none),
      longestSeconds: measured(acknowledged.longest, none),
      oldestOpenSeconds: measured(
        counts.oldestOpen === null ? null : Math.max(0, to - counts.oldestOpen) / 1_000,
        'No signal is open.',
      ),
    },
    efficiency: efficiencyOfWorks(done, next),
    cost: {
      usd: measured(counts.cost.usd, 'No usage report of this time measured its cost.'),
      worksMeasured: counts.cost.measured,
      worksPartly: counts.cost.partly,
      worksUnmeasured: counts.cost.unmeasured,
    },
    liveAtOnce: live(spans),
  };
}

export function workEfficiency(work: WorkRow): WorkEfficiency {
  return {
    work: work.work,
    phase: work.assessment?.phase ?? 'done',
    doneAt: iso(work.doneAt ?? 0),
    ...efficiencyOf(work.ledger),
  };
}

function worksOf({ works }: ReportCounts): FleetReport['works'] {
  const byClass = zeros<TrajectoryClass>(trajectoryClasses);
  const byPhase = zeros<Assessment['phase']>(phases);
  let total = 0;
  for (const { class: is, phase, count } of works) {
    byClass[is as TrajectoryClass] += count;
    byPhase[phase as Assessment['phase']] += count;
    total += count;
  }
  return { total, byClass, byPhase };
}

function signalsOf({ signals }: ReportCounts): FleetReport['signals'] {
  const byKind = Object.fromEntries(kinds.map((kind) => [kind, zeros<SignalView['state']>(states)])) as Record<
    SignalKind,
    Record<SignalView['state'], number>
  >;
  let raised = 0;
  for (const { kind, state, count } of signals) {
    byKind[kind as SignalKind][state as SignalView['state']] += count;
    raised += count;
  }
  return { raised, byKind };
}

function efficiencyOfWorks(done: readonly WorkRow[], next: string | null): FleetReport['efficiency'] {
  const items = done.map(workEfficiency);
  const scores = items.flatMap(({ efficiency }) => (efficiency === null ? [] : [efficiency]));
  const mean = scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return {
    items,
    next,
    scored: scores.length,
    unscored: items.length - scores.length,
    mean: measured(mean, items.length === 0 ? 'No work was done in this time.' : 'No done work has a score.'),
  };
}

function live(spans: readonly Span[]): FleetReport['liveAtOnce'] {
  const most = liveAtOnce(spans);
  const common = { clock: 'reported' as const, spans: spans.length };
  if (most === null)
    return {
      value: null,
      reason: 'No usage with a beginning and an end was reported in this time.',
      at: null,
      ...common,
    };
  if (spans.length >= REPORT_SPANS)
    return {
      value: null,
      reason: `More than ${REPORT_SPANS} times of usage were reported: ask for fewer days.`,
      at: null,
      ...common,
    };
  return { value: most.peak, reason: null, at: iso(most.at), ...common };
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

const measured = (value: number | null, reason: string): Measured =>
  value === null ? { value, reason } : { value, reason: null };

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

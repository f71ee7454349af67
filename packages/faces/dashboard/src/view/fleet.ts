import type { WorkView } from '@headway/contracts';
import { type ChildInput, h, type Markup, reported } from './markup.ts';
import { redirect, type SignalBoard } from './signals.ts';
import {
  classMark,
  count,
  type Group,
  groupOf,
  groups,
  isUrgent,
  meaning,
  missing,
  moment,
  money,
  urgency,
  workPath,
} from './words.ts';

/** Rows the table holds at most, the most urgent ones; a browser lays out no more in reasonable time. */
export const FLEET_ROWS = 5_000;
/** Failing keys shown in a row; all that are kept stand on the work's own page. */
const ROW_FAILURES = 2;

/** What the order of rows depends on; the same on the server and in the page, where it is read back from the row. */
export interface RowKey {
  readonly work: string;
  readonly rank: number;
  readonly since: string;
}

const FINISHED = urgency.length * 2;

/** Most urgent class first, blocked works behind those of their class, finished works last. */
export function rankOf(work: Pick<WorkView, 'class' | 'phase'>): number {
  if (groupOf(work) === 'finished') return FINISHED;
  return urgency.indexOf(work.class) * 2 + (work.phase === 'blocked' ? 1 : 0);
}

export const rowKey = (work: WorkView): RowKey => ({ work: work.work, rank: rankOf(work), since: work.since ?? '' });

/** Within a rank the one that is in it for longest comes first; those without a time last. */
export function byUrgency(a: RowKey, b: RowKey): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.since !== b.since) return a.since === '' ? 1 : b.since === '' ? -1 : a.since < b.since ? -1 : 1;
  return a.work < b.work ? -1 : a.work > b.work ? 1 : 0;
}

interface Column {
  readonly title: string;
  readonly kind: string;
  cell(work: WorkView, board: SignalBoard, now: number): ChildInput;
}

/** Every column of the fleet table, once: heads, server's rows and the page's rows are all made from here. */
const columns: readonly Column[] = [
  {
    title: 'Work',
    kind: 'work',
    cell: (work) => [
      h('a', { href: workPath(work.work), 'data-key': 'work' }, reported(work.work)),
      work.lane !== null && h('span', { class: 'aside' }, reported(work.lane)),
    ],
  },
  { title: 'Class', kind: 'class', cell: (work) => classMark(work.class) },
  {
    title: 'Agent',
    kind: 'agent',
    cell: (work) => (work.worker === null ? missing('no worker has claimed this work') : reported(work.worker)),
  },
  { title: 'Phase', kind: 'phase', cell: (work) => work.phase },
  { title: 'Attempts', kind: 'number', cell: (work) => count(work.attempts, 'attempts are not known') },
  {
    title: 'Since',
    kind: 'since',
    cell: (work, _board, now) => [
      moment(work.since, now, 'the evidence behind this class carries no time'),
      work.assessment !== null &&
        h(
          'span',
          { class: 'aside' },
          work.assessment.rule,
          work.assessment.gate !== null && [' · ', reported(work.assessment.gate)],
        ),
    ],
  },
  { title: 'Cost', kind: 'number', cell: (work) => money(work.costUsd) },
  {
    title: 'Reason',
    kind: 'reason',
    cell: (work, board, now) => [
      work.assessment === null
        ? h('p', { class: 'reason' }, missing('not assessed yet: the classifier has not judged this work'))
        : h('p', { class: 'reason' }, reported(work.assessment.reason)),
      evidenceLine(work),
      redirect(work, board, now),
    ],
  },
];

/** What failed and what moved last, for the classes that ask for a look. */
function evidenceLine(work: WorkView): Markup | false {
  const assessment = work.assessment;
  if (assessment === null || !isUrgent(assessment.class)) return false;
  const shown = assessment.failures.slice(0, ROW_FAILURES);
  const rest = assessment.failures.length - shown.length;
  if (shown.length === 0 && assessment.delta === null) return false;
  return h(
    'p',
    { class: 'evidence' },
    assessment.delta !== null &&
      h(
        'span',
        { class: 'delta', title: 'lines added and removed between the last two diff states' },
        assessment.delta.added + assessment.delta.removed === 0
          ? 'no line changed'
          : `last change ${deltaText(assessment.delta)}`,
      ),
    shown.map((key) => h('code', { class: 'failure', title: key }, reported(key))),
    rest > 0 && `and ${rest} more`,
  );
}

export const deltaText = (delta: { readonly added: number; readonly removed: number }): string =>
  `+${delta.added} −${delta.removed}`;

export const tableHead = (): Markup =>
  h(
    'thead',
    { role: 'rowgroup' },
    h(
      'tr',
      { role: 'row' },
      columns.map((column) =>
        h('th', { scope: 'col', role: 'columnheader', class: `is-${column.kind}` }, column.title),
      ),
    ),
  );

export function workRow(work: WorkView, board: SignalBoard, now: number): Markup {
  const key = rowKey(work);
  const group = groupOf(work);
  return h(
    'tr',
    {
      role: 'row',
      class: `row group-${group}`,
      'data-work': work.work,
      'data-class': work.class,
      'data-group': group,
      'data-rank': key.rank,
      'data-since': key.since,
      'data-change': work.change,
      'data-signal': work.openSignal,
    },
    columns.map((column) => {
      const content = column.cell(work, board, now);
      const attributes = { class: `is-${column.kind}`, 'data-label': column.title };
      return column.kind === 'work'
        ? h('th', { ...attributes, scope: 'row', role: 'rowheader' }, h('div', { class: 'cell' }, content))
        : h('td', { ...attributes, role: 'cell' }, h('div', { class: 'cell' }, content));
    }),
  );
}

export type Counts = Readonly<Record<Group | 'all', number>>;

export function countGroups(found: Iterable<string>): Counts {
  const counts = Object.fromEntries([['all', 0], ...groups.map((group) => [group, 0])]) as Record<
    Group | 'all',
    number
  >;
  for (const group of found) {
    counts.all += 1;
    if (Object.hasOwn(counts, group)) counts[group as Group] += 1;
  }
  return counts;
}

/** Counts by class that filter the table. They are enabled by the page's script; without it they still count. */
export const filters = (counts: Counts): Markup =>
  h(
    'div',
    { id: 'filters', role: 'group', 'aria-label': 'Show works by class' },
    (['all', ...groups] as const).map((group) =>
      h(
        'button',
        {
          type: 'button',
          class: `filter group-${group}`,
          'data-filter': group,
          'aria-pressed': group === 'all' ? 'true' : 'false',
          title: group === 'all' ? 'every work' : meaning[group],
          disabled: true,
        },
        h('span', { class: 'many', 'data-count': group }, counts[group]),
        group === 'all' ? h('span', { class: 'class' }, 'all works') : classMark(group),
      ),
    ),
  );

export const fleetTitle = (counts: Counts): string => {
  const urgent = counts.thrashing + counts.stagnating;
  return urgent === 0 ? 'Headway' : `(${urgent}) Headway`;
};

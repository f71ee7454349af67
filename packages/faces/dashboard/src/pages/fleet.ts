import type { PositionText, SignalView, WorkView } from '@headway/contracts';
import { paths } from '../assets.ts';
import { byUrgency, countGroups, FLEET_ROWS, filters, fleetTitle, rowKey, tableHead, workRow } from '../view/fleet.ts';
import { h, type Markup } from '../view/markup.ts';
import { command, sharedFailures, signalBoard } from '../view/signals.ts';
import { groupOf } from '../view/words.ts';
import { document } from './frame.ts';

export interface FleetPage {
  readonly works: readonly WorkView[];
  /** At least the open signals, and the newest acknowledged ones: a work says who answered what it still shows. */
  readonly signals: readonly SignalView[];
  readonly tenant: string;
  /** The newest change among the works and signals given: what the page follows the stream from. */
  readonly change: number;
  readonly position: PositionText;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The fleet at `/`: a full HTML document that is complete without script and live with it. */
export function renderFleet({ works, signals, tenant, change, position, now }: FleetPage): string {
  const board = signalBoard(signals);
  const sorted = works.map((work) => ({ work, key: rowKey(work) })).sort((a, b) => byUrgency(a.key, b.key));
  const shown = sorted.slice(0, FLEET_ROWS).map((one) => one.work);
  const counts = countGroups(shown.map(groupOf));
  const main = h(
    'div',
    { class: 'fleet-page' },
    h('h1', {}, 'Fleet'),
    filters(counts),
    sharedFailures(board, now),
    emptyState(works.length === 0),
    h('p', { id: 'none-shown', hidden: true }, 'No work is in this class now.'),
    h(
      'div',
      { id: 'fleet', hidden: works.length === 0 },
      h(
        'table',
        { role: 'table' },
        h('caption', { class: 'sr' }, 'Works, the most urgent first'),
        tableHead(),
        h(
          'tbody',
          { role: 'rowgroup' },
          shown.map((work) => workRow(work, board, now)),
        ),
      ),
      sorted.length > shown.length &&
        h('p', { class: 'aside' }, `The ${FLEET_ROWS} most urgent of ${sorted.length} works are shown.`),
    ),
  );
  return document({
    title: fleetTitle(counts),
    script: paths.fleetScript,
    tenant,
    change,
    position,
    now,
    main,
    signals: [...board.open.values(), ...new Set(board.acknowledged.values())],
  });
}

const emptyState = (empty: boolean): Markup =>
  h(
    'section',
    { id: 'empty', hidden: !empty },
    h('h2', {}, 'No evidence yet'),
    h(
      'p',
      {},
      'A work appears here with the first thing that is reported about it. Run a check of yours through Headway:',
    ),
    command('headway gate test --work W-1 -- npm test', 'Copy the command', 'empty'),
    h(
      'p',
      {},
      'The check runs as always, with its own output and exit code; what it showed is judged, and stands here a moment later. Three failures of the same kind without a change in between, and the work turns ',
      h('strong', {}, 'stagnating'),
      '.',
    ),
  );

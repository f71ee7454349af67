import type { TimelineEntry } from '@headway/contracts';
import { h, type Markup } from '../view/markup.ts';
import { moment, plural } from '../view/words.ts';
import { lanes, type Shown, show } from './timeline-entry.ts';

/** Facts drawn in the overview, and facts listed below it; older ones are counted. */
const DRAWN = 60;
export const LISTED = 300;

/** Width of one fact: wide while there are few, so that the newest is where the eye is. */
const STEP = { least: 16, most: 44, in: 1_000 } as const;
const LANE = 22;
const LABELS = 92;
const BAND = 16;
/** Width of a letter in the band: a class is written where its word fits. */
const LETTER = 6.5;

/** What happened to a work, newest first, under an overview with one lane for each kind of fact. */
export function timelineView(entries: readonly TimelineEntry[], now: number): Markup {
  const facts = onlyClassChanges([...entries].sort((a, b) => a.entry - b.entry).map(show));
  const listed = facts.slice(-LISTED).reverse();
  return h(
    'section',
    { class: 'timeline', 'aria-labelledby': 'timeline-title' },
    h('h2', { id: 'timeline-title' }, 'Timeline'),
    facts.length === 0 && h('p', {}, 'Nothing has been recorded about this work.'),
    facts.length > 0 && overview(facts),
    h(
      'ol',
      { class: 'entries', reversed: true },
      listed.map((fact) => item(fact, now)),
    ),
    facts.length > listed.length &&
      h(
        'p',
        { class: 'aside' },
        `${plural(facts.length - listed.length, 'older entry').replace('entrys', 'entries')} not shown here.`,
      ),
  );
}

/** An assessment follows nearly every fact; only those that changed class or rule say something new. */
function onlyClassChanges(facts: readonly Shown[]): Shown[] {
  let last = '';
  return facts.filter((fact) => {
    if (fact.lane !== 'class') return true;
    const rule = (fact.entry.data as { readonly rule?: unknown } | null)?.rule;
    const next = `${fact.entry.incarnation} ${fact.mark} ${String(rule)}`;
    const isNew = next !== last;
    last = next;
    return isNew;
  });
}

function item(fact: Shown, now: number): Markup {
  return h(
    'li',
    { class: `entry lane-${fact.lane} mark-${fact.mark}`, 'data-entry': fact.entry.entry },
    h('span', { class: 'when' }, moment(fact.entry.time ?? fact.entry.recordedAt, now, 'no time was reported')),
    h('span', { class: 'lane' }, h('span', { class: 'tick', 'aria-hidden': 'true' }), fact.lane),
    h('div', { class: 'what' }, fact.content),
  );
}

function overview(facts: readonly Shown[]): Markup {
  const drawn = facts.slice(-DRAWN);
  const columns = drawn.filter((fact) => fact.lane !== 'class').length;
  const step = Math.max(STEP.least, Math.min(STEP.most, Math.floor(STEP.in / (columns + 1))));
  const width = (columns + 1) * step;
  const height = BAND + LANE * lanes.length + 12;
  const before = facts.slice(0, -drawn.length).findLast((fact) => fact.lane === 'class')?.mark ?? 'unknown';
  const label = `The last ${plural(columns, 'fact')} in order, newest on the right; each is listed below`;
  return h(
    'div',
    { class: 'overview', role: 'img', 'aria-label': label },
    h(
      'svg',
      { viewBox: `0 0 ${LABELS} ${height}`, width: LABELS, height },
      h('text', { x: 0, y: BAND, class: 'lane-label' }, 'class'),
      lanes.map((lane, index) => h('text', { x: 0, y: laneY(index) + 4, class: 'lane-label' }, lane)),
    ),
    h(
      'div',
      { class: 'strip' },
      h(
        'svg',
        { viewBox: `0 0 ${width} ${height}`, width, height },
        lanes.map((_lane, index) =>
          h('line', { x1: 0, x2: width, y1: laneY(index), y2: laneY(index), class: 'lane-line' }),
        ),
        band(drawn, before, width, step),
        marks(drawn, step),
      ),
    ),
  );
}

const laneY = (index: number): number => BAND + 8 + LANE * index + LANE / 2;

/** The class over the same axis: a bar that changes its colour where the class changed. */
function band(drawn: readonly Shown[], before: string, width: number, step: number): Markup[] {
  const bars: Markup[] = [];
  let from = 0;
  let current = before;
  const close = (to: number): void => {
    if (to > from) {
      const look = { x: from, y: 2, width: to - from, height: BAND, class: `band fill-${current}` };
      bars.push(h('rect', look, h('title', {}, current)));
      if (to - from > current.length * LETTER + 8) {
        bars.push(h('text', { x: from + 5, y: BAND - 2, class: `band-word word-${current}` }, current));
      }
    }
    from = to;
  };
  let column = 0;
  for (const fact of drawn) {
    if (fact.lane !== 'class') column += 1;
    else {
      close(Math.max(column * step, 0));
      current = fact.mark;
    }
  }
  close(width);
  return bars;
}

function marks(drawn: readonly Shown[], step: number): Markup[] {
  return drawn
    .filter((fact) => fact.lane !== 'class')
    .map((fact, column) => {
      const lane = lanes.indexOf(fact.lane as (typeof lanes)[number]);
      return mark(fact, column * step + step / 2, laneY(lane));
    });
}

/** Shape says what it was: failed ✕, passed ●, errored !, commit ■, checkpoint ◆, signal ▲, other ○. */
function mark(fact: Shown, x: number, y: number): Markup {
  const title = h('title', {}, fact.title);
  const look = { class: `mark mark-${fact.mark}` };
  switch (fact.mark) {
    case 'failed':
      return h('path', { ...look, d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }, title);
    case 'errored':
      return h('path', { ...look, d: `M${x} ${y - 5}v6m0 3v1` }, title);
    case 'commits':
      return h('rect', { ...look, x: x - 4, y: y - 4, width: 8, height: 8 }, title);
    case 'checkpoints':
      return h('path', { ...look, d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z` }, title);
    case 'raised':
    case 'signals':
      return h('path', { ...look, d: `M${x} ${y - 5}l5 9h-10z` }, title);
    default:
      return h('circle', { ...look, cx: x, cy: y, r: 4 }, title);
  }
}

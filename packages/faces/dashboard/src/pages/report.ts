import type { FleetReport, Measured, WorkEfficiency } from '@headway/contracts';
import { paths } from '../assets.ts';
import { h, type Markup, reported } from '../view/markup.ts';
import { classMark, missing, moment, plural, urgency, workPath } from '../view/words.ts';
import { document } from './frame.ts';

export interface ReportPage {
  readonly report: FleetReport;
  readonly tenant: string;
  readonly change: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The report at `/report`: where the fleet stands, and what it took. A number that is not known says why. */
export function renderReport({ report, tenant, change, now }: ReportPage): string {
  const { window, position } = report;
  const main = h(
    'div',
    { class: 'report-page' },
    h('h1', {}, 'Report'),
    h('p', { class: 'aside' }, `The last ${plural(window.days, 'day')}, up to `, moment(window.to, now, ''), '.'),
    h('div', { class: 'cards' }, worksCard(report), signalsCard(report), answersCard(report), costCard(report)),
    efficiency(report, now),
  );
  const title = 'Report · Headway';
  return document({ title, script: paths.reportScript, tenant, change, position, now, main });
}

const card = (title: string, ...content: Markup[]): Markup =>
  h('section', { class: 'card' }, h('h2', {}, title), ...content);

const facts = (rows: readonly (readonly [label: Markup | string, value: Markup | string])[]): Markup =>
  h(
    'dl',
    { class: 'report-facts' },
    rows.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );

const worksCard = ({ works }: FleetReport): Markup =>
  card(
    plural(works.total, 'work'),
    facts(urgency.map((name) => [classMark(name), String(works.byClass[name])] as const)),
    h('h3', {}, 'Of all these'),
    facts(
      (['done', 'done-claimed', 'blocked', 'released'] as const).map((phase) => [phase, String(works.byPhase[phase])]),
    ),
  );

function signalsCard({ signals }: FleetReport): Markup {
  const rows = Object.entries(signals.byKind).map(([kind, states]) => {
    const told = Object.entries(states).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]));
    return [kind, told.length === 0 ? '0' : told.join(', ')] as const;
  });
  return card(`${plural(signals.raised, 'signal')} raised`, facts(rows));
}

const answersCard = ({ acknowledgement: { acknowledged, ...times } }: FleetReport): Markup =>
  card(
    'Answers',
    facts([
      ['acknowledged', String(acknowledged)],
      ['median time', known(times.medianSeconds, duration)],
      ['90 of 100 within', known(times.p90Seconds, duration)],
      ['longest', known(times.longestSeconds, duration)],
      ['oldest open signal', known(times.oldestOpenSeconds, duration)],
    ]),
    h('p', { class: 'aside' }, 'By the clock of the log: from raised to acknowledged, each as recorded.'),
  );

const costCard = ({ cost, liveAtOnce }: FleetReport): Markup =>
  card(
    'Cost and agents',
    facts([
      ['cost', known(cost.usd, (usd) => `$${usd.toFixed(2)}`)],
      ['works measured', String(cost.worksMeasured)],
      ['measured in part', String(cost.worksPartly)],
      ['not measured', String(cost.worksUnmeasured)],
      ['agents live at once', known(liveAtOnce, String)],
    ]),
    h('p', { class: 'aside' }, 'Agents by the reported times of their usage.'),
  );

function efficiency({ efficiency: found }: FleetReport, now: number): Markup {
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Efficiency of done works'),
    h(
      'p',
      { class: 'aside' },
      'What each used against its own estimate. Mean ',
      known(found.mean, percent),
      ` over ${found.scored} with a score, ${found.unscored} without. For information: it is no gate.`,
    ),
    found.items.length > 0 &&
      h(
        'div',
        { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Efficiency per work' },
        h(
          'table',
          {},
          h('thead', {}, h('tr', {}, ...headings.map((heading) => h('th', { scope: 'col' }, heading)))),
          h('tbody', {}, ...found.items.map((item) => row(item, now))),
        ),
      ),
    found.next !== null &&
      h('p', {}, h('a', { href: `/report?cursor=${encodeURIComponent(found.next)}` }, 'More works')),
  );
}

const headings = ['Work', 'Done', 'Efficiency', 'Completion', 'Score', 'Estimated / used', 'Missing'];

const row = (item: WorkEfficiency, now: number): Markup =>
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, h('a', { href: workPath(item.work) }, reported(item.work))),
    h('td', {}, moment(item.doneAt, now, ''), item.phase === 'done-claimed' && ' (claimed)'),
    h('td', {}, share(item.efficiency, item.reason)),
    h('td', {}, share(item.completion, item.completionReason)),
    h('td', {}, share(item.trajectoryScore, item.reason ?? item.completionReason)),
    h(
      'td',
      {},
      item.dimensions
        .map(({ dimension, baseline, actual }) => `${words[dimension]} ${baseline} / ${actual}`)
        .join(', '),
    ),
    h('td', {}, item.missing.map(({ dimension, reason }) => `${words[dimension]}: ${reason}`).join(' ')),
  );

const words = { gateAttempts: 'attempts', commits: 'commits', tokens: 'tokens' } as const;

const percent = (value: number): string => `${Math.round(value * 100)} %`;

const share = (value: number | null, reason: string | null): Markup | string =>
  value === null ? missing(reason ?? 'not known') : percent(value);

const known = (measured: Measured, text: (value: number) => string): Markup | string =>
  measured.value === null ? missing(measured.reason) : text(measured.value);

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

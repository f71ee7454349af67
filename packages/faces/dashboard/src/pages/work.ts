import type { PositionText, RecoverView, SignalView, TimelineEntry, WorkView } from '@headway/contracts';
import { paths } from '../assets.ts';
import { deltaText } from '../view/fleet.ts';
import { type ChildInput, h, type Markup, reported } from '../view/markup.ts';
import { acknowledgement, answered, command, signalBoard, signalFacts } from '../view/signals.ts';
import {
  classMark,
  count,
  groupOf,
  isUrgent,
  meaning,
  missing,
  moment,
  money,
  shellWord,
  short,
} from '../view/words.ts';
import { document } from './frame.ts';
import { timelineView } from './timeline.ts';

export interface WorkPage {
  readonly work: WorkView;
  /** In any order; shown newest first. */
  readonly timeline: readonly TimelineEntry[];
  /** The open signals that the work is in, and the newest that was acknowledged. */
  readonly signals: readonly SignalView[];
  /** What the agent reads, as it reads it; `null` where there is none. */
  readonly briefMarkdown: string | null;
  /** What may be done about it; absent = not asked for. */
  readonly recover?: RecoverView;
  readonly tenant: string;
  readonly change: number;
  readonly position: PositionText;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One work at `/works/<work>`: its class and why, the redirect, and everything that was recorded, newest first. */
export function renderWork(page: WorkPage): string {
  const { work, now } = page;
  const main = h(
    'div',
    { id: 'work', class: `work-page group-${groupOf(work)}`, 'data-class': work.class },
    h('p', { class: 'back' }, h('a', { href: '/', 'data-key': 'back' }, 'Fleet')),
    h('h1', {}, reported(work.work)),
    verdict(work),
    workFacts(work, now),
    redirectBlock(page),
    proposals(page),
    timelineView(page.timeline, now),
    brief(page.briefMarkdown),
  );
  const { tenant, change, position } = page;
  return document({
    title: `${work.work} · Headway`,
    script: paths.workScript,
    tenant,
    change,
    position,
    now,
    work: work.work,
    main,
  });
}

/** What `/works/<work>` answers, with 404, for a work without evidence; it turns into the work's page once there is some. */
export function renderUnknownWork(
  page: Pick<WorkPage, 'tenant' | 'change' | 'position' | 'now'> & { readonly work: string },
): string {
  const main = h(
    'div',
    { id: 'work', class: 'work-page', 'data-class': '' },
    h('p', { class: 'back' }, h('a', { href: '/', 'data-key': 'back' }, 'Fleet')),
    h('h1', {}, reported(page.work)),
    h(
      'p',
      { class: 'reason' },
      'Nothing has been reported about this work. Its page appears here with the first evidence:',
    ),
    command(`headway gate test --work ${shellWord(page.work)} -- npm test`, 'Copy the command', 'empty'),
  );
  return document({ ...page, title: `${page.work} · Headway`, script: paths.workScript, main });
}

const verdict = (work: WorkView): Markup =>
  h(
    'div',
    { class: 'verdict' },
    h('p', { class: 'verdict-class', title: meaning[work.class] }, classMark(work.class)),
    h(
      'p',
      { class: 'reason' },
      work.assessment === null ? missing('not assessed yet') : reported(work.assessment.reason),
    ),
  );

function workFacts(work: WorkView, now: number): Markup {
  const fact = (label: string, ...value: ChildInput[]): Markup => h('div', {}, h('dt', {}, label), h('dd', {}, value));
  const named = (value: string | null, absent: string): Markup => (value === null ? missing(absent) : reported(value));
  return h(
    'dl',
    { class: 'facts work-facts' },
    fact('agent', named(work.worker, 'no worker has claimed this work')),
    fact('orchestrator', named(work.orchestrator, 'the claim names no orchestrator')),
    fact('lane', named(work.lane, 'the claim names no lane')),
    fact('phase', phaseText(work.phase)),
    fact('incarnation', work.incarnation),
    fact('attempts', count(work.attempts, 'attempts are not known')),
    fact('cost', money(work.costUsd)),
    fact('since', moment(work.since, now, 'the evidence behind this class carries no time')),
    fact('rule', named(work.assessment?.rule ?? null, 'not assessed yet')),
    fact('policy', policyText(work)),
  );
}

const phaseText = (phase: WorkView['phase']): Markup | string =>
  phase === 'done-claimed'
    ? h('span', { title: 'The worker says so; no done gate passed on this state, and nobody else said it.' }, phase)
    : phase;

/** The version that judged it, and the numbers that are not the defaults. */
function policyText({ assessment }: WorkView): Markup | string {
  if (assessment === null) return missing('not assessed yet');
  if (assessment.policy === 0) return 'defaults';
  const differs = Object.entries(assessment.policyDiffers ?? {}).map(([name, value]) => `${name} ${value}`);
  return `version ${assessment.policy}${differs.length === 0 ? '' : `: ${differs.join(', ')}`}`;
}

/** Proposals to copy; the page does none of them. */
function proposals({ recover }: WorkPage): Markup | false {
  if (recover === undefined || (recover.proposals.length === 0 && recover.openDelegations.length === 0)) return false;
  const { openDelegations, moreDelegations } = recover;
  const named = openDelegations.map(({ delegation, child }) =>
    child === null ? delegation : `${delegation} to ${child}`,
  );
  return h(
    'section',
    { class: 'card recover', 'aria-labelledby': 'recover-title' },
    h('h2', { id: 'recover-title' }, 'What may be done'),
    h('p', { class: 'aside' }, 'Headway does none of it. Copy what you want done.'),
    recover.proposals.map(({ kind, title, because, command: line }) =>
      h(
        'div',
        { class: 'proposals' },
        h('h3', {}, reported(title)),
        h('p', { class: 'aside' }, reported(because)),
        command(line, `Copy the command: ${title}`, `recover:${kind}`),
      ),
    ),
    named.length > 0 &&
      h(
        'p',
        {},
        'Delegations opened and never completed: ',
        reported(named.join(', ')),
        moreDelegations > 0 && ` and ${moreDelegations} more`,
      ),
  );
}

function redirectBlock({ work, signals, now }: WorkPage): Markup | false {
  const board = signalBoard(signals);
  const id = work.openSignal;
  const signal = id === null ? undefined : board.open.get(id);
  const shared = [...board.open.values()].find((one) => one.kind === 'shared-failure' && one.works.includes(work.work));
  const about = signal ?? shared;
  if (about === undefined && (id === null || board.closed.has(id))) return answered(work, board, now) ?? false;
  const named = about?.signal ?? (id as string);
  const assessment = work.assessment;
  const urgent = assessment !== null && isUrgent(assessment.class);
  return h(
    'section',
    { class: 'redirect-block', 'aria-labelledby': 'redirect-title' },
    h('h2', { id: 'redirect-title' }, about?.kind === 'shared-failure' ? 'Redirect: shared failure' : 'Redirect'),
    about === undefined && h('p', {}, 'Signal ', h('code', { title: named }, short(named)), ' is open.'),
    about?.kind === 'shared-failure' &&
      h('p', {}, `One cause, ${about.works.length} works: whoever answers it answers for all.`),
    about !== undefined && about.reason !== assessment?.reason && h('p', { class: 'reason' }, reported(about.reason)),
    about !== undefined && signalFacts(about, now),
    urgent &&
      assessment.delta !== null &&
      h('p', { class: 'aside' }, 'last change ', h('span', { class: 'delta' }, deltaText(assessment.delta))),
    urgent &&
      assessment.failures.length > 0 &&
      h(
        'ul',
        { class: 'keys' },
        assessment.failures.map((key) => h('li', {}, h('code', {}, reported(key)))),
      ),
    command(acknowledgement(named), `Copy the command that acknowledges signal ${short(named)}`, 'ack'),
  );
}

const brief = (markdown: string | null): Markup | false =>
  markdown !== null &&
  h(
    'section',
    { class: 'brief' },
    h('h2', {}, 'Brief, as the agent reads it'),
    h('pre', { tabindex: '0' }, reported(markdown)),
  );

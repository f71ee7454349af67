import type { SignalView } from '@headway/contracts';
import { type ChildInput, h, type Markup, reported } from './markup.ts';
import { moment, plural, shellWord, short, workPath } from './words.ts';

/** What the page knows about signals: the open ones, and the ids it saw close (an id never opens again). */
export interface SignalBoard {
  readonly open: ReadonlyMap<string, SignalView>;
  readonly closed: ReadonlySet<string>;
  /** The newest acknowledged signal of each work. */
  readonly acknowledged: ReadonlyMap<string, SignalView>;
}

export const signalBoard = (signals: readonly SignalView[]): SignalBoard => ({
  open: new Map(signals.filter((one) => one.state === 'open').map((one) => [one.signal, one])),
  closed: new Set(signals.filter((one) => one.state !== 'open').map((one) => one.signal)),
  acknowledged: acknowledgedOf(signals),
});

function acknowledgedOf(signals: readonly SignalView[]): Map<string, SignalView> {
  const newest = new Map<string, SignalView>();
  for (const signal of signals) noteAcknowledged(newest, signal);
  return newest;
}

/** Takes a signal in if it is acknowledged, for each work that was in it. */
export function noteAcknowledged(newest: Map<string, SignalView>, signal: SignalView): void {
  if (signal.state !== 'acknowledged') return;
  for (const work of signal.works) {
    const known = newest.get(work);
    if (known === undefined || (known.closedAt ?? '') <= (signal.closedAt ?? '')) newest.set(work, signal);
  }
}

/** Works that a shared failure's banner names; the rest is counted. */
const NAMED_WORKS = 30;

export const acknowledgement = (signal: string): string => `headway ack ${shellWord(signal)} --agree`;

/** A word of a command that is shown cut off, though all of it is copied. */
const LONG_WORD = /(\S{25,})/;

/** A command to copy: the button copies it, and without script a click on the line selects all of it. */
export const command = (line: string, label: string, key: string): Markup =>
  h(
    'span',
    { class: 'command' },
    h(
      'code',
      { tabindex: '0', 'data-key': `${key}:line`, title: line },
      line.split(LONG_WORD).map((part, index) => (index % 2 === 1 ? h('span', { class: 'long' }, part) : part)),
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'copy',
        'data-copy': line,
        'data-key': `${key}:copy`,
        'aria-label': label,
        disabled: true,
      },
      'Copy',
    ),
  );

const fact = (label: string, value: Markup | string): Markup => h('div', {}, h('dt', {}, label), h('dd', {}, value));

/** The facts of a redirect, as its brief gives them to the agent. */
export const signalFacts = (signal: SignalView, now: number): Markup =>
  h(
    'dl',
    { class: 'facts' },
    signalId(signal.signal),
    signal.rule !== null && fact('rule', signal.rule),
    signal.gate !== null && fact('gate', reported(signal.gate)),
    counted(signal, now),
    signal.to.length > 0 && fact('to', reported(signal.to.join(', '))),
  );

const signalId = (id: string): Markup => fact('signal', h('code', { title: id }, short(id)));

const counted = (signal: SignalView, now: number): ChildInput => [
  // That of a shared failure is of the works that it was raised with: how many there are now is said with their names.
  signal.count !== null && signal.kind !== 'shared-failure' && fact('count', String(signal.count)),
  signal.signature !== null && fact('signature', h('code', { title: signal.signature }, short(signal.signature))),
  fact('raised', moment(signal.raisedAt, now, 'the signal carries no time')),
];

/** What of a work decides about its redirect; its class as text, since a row of the page keeps it so. */
export interface Redirected {
  readonly work: string;
  readonly class: string;
  readonly openSignal: string | null;
}

/**
 * What stands under the reason of a work: nothing, the redirect of its own open signal with the line that acknowledges
 * it, the way to the banner of the shared failure that it is part of, or who acknowledged what it still shows.
 */
export function redirect(of: Redirected, board: SignalBoard, now: number): Markup {
  const { work, openSignal } = of;
  const own = openSignal !== null && !board.closed.has(openSignal) ? openSignal : null;
  const known = own === null ? undefined : board.open.get(own);
  const shared = known?.kind === 'shared-failure' ? known : own === null ? sharedFailureOf(work, board) : undefined;
  const slot = { 'data-slot': 'redirect', class: 'redirect' };
  if (shared !== undefined) {
    return h(
      'div',
      slot,
      h(
        'p',
        {},
        h('a', { href: `#shared-${shared.signal}`, 'data-key': 'shared' }, `Shared failure ${short(shared.signal)}`),
        ` of ${plural(shared.works.length, 'work')}`,
      ),
    );
  }
  if (own === null) return answered(of, board, now) ?? h('div', { ...slot, hidden: true });
  return h(
    'div',
    slot,
    h(
      'div',
      { class: 'redirect-head' },
      h('strong', {}, 'Redirect'),
      // Rule and gate stand in the row already.
      h('dl', { class: 'facts' }, signalId(own), known !== undefined && counted(known, now)),
    ),
    command(acknowledgement(own), `Copy the command that acknowledges signal ${short(own)}`, 'ack'),
  );
}

/**
 * Who acknowledged the signal of the class that a work still shows, and how long that holds; `null` where the class is
 * another one, which the acknowledgement says nothing about.
 */
export function answered(of: Omit<Redirected, 'openSignal'>, board: SignalBoard, now: number): Markup | null {
  const signal = board.acknowledged.get(of.work);
  if (signal === undefined) return null;
  const raisedAs = signal.kind === 'shared-failure' ? 'stagnating' : signal.kind;
  if (raisedAs !== of.class) return null;
  const { from, intent } = signal.closing ?? {};
  return h(
    'div',
    { 'data-slot': 'redirect', class: 'redirect answered' },
    h(
      'p',
      {},
      h('strong', {}, 'Acknowledged'),
      typeof from === 'string' && [' by ', reported(from)],
      typeof intent === 'string' && ` (${intent})`,
      ' ',
      moment(signal.closedAt, now, 'the acknowledgement carries no time'),
      ': nobody is signalled again until new evidence shows it anew',
    ),
  );
}

function sharedFailureOf(work: string, board: SignalBoard): SignalView | undefined {
  for (const signal of board.open.values()) {
    if (signal.kind === 'shared-failure' && signal.works.includes(work)) return signal;
  }
  return undefined;
}

/** One banner for each open shared failure: one cause, said once, whatever the number of works it holds up. */
export function sharedFailures(board: SignalBoard, now: number): Markup {
  const shared = [...board.open.values()]
    .filter((one) => one.kind === 'shared-failure')
    .sort((a, b) => b.works.length - a.works.length || (a.signal < b.signal ? -1 : 1));
  return h(
    'section',
    { id: 'shared-failures', 'aria-label': 'Shared failures', hidden: shared.length === 0 },
    shared.map((one) => banner(one, now)),
  );
}

function banner(signal: SignalView, now: number): Markup {
  const rest = signal.works.length - NAMED_WORKS;
  return h(
    'article',
    { class: 'banner', id: `shared-${signal.signal}`, tabindex: '-1', 'data-signal': signal.signal },
    h('h2', {}, 'Shared failure: ', `${plural(signal.works.length, 'work')} fail the same way`),
    h('p', { class: 'reason' }, reported(signal.reason)),
    h(
      'ul',
      { class: 'works', 'aria-label': 'Works in it' },
      signal.works
        .slice(0, NAMED_WORKS)
        .map((work) =>
          h('li', {}, h('a', { href: workPath(work), 'data-key': `banner:${signal.signal}:${work}` }, reported(work))),
        ),
      rest > 0 && h('li', {}, `and ${rest} more`),
    ),
    h(
      'div',
      { class: 'banner-foot' },
      signalFacts(signal, now),
      command(
        acknowledgement(signal.signal),
        `Copy the command that acknowledges shared failure ${short(signal.signal)}`,
        `banner:${signal.signal}`,
      ),
    ),
  );
}

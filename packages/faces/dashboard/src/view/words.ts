import type { TrajectoryClass, WorkView } from '@headway/contracts';
import { h, type Markup } from './markup.ts';

/** The classes, the most urgent first: the order of the table and of the filter. */
export const urgency: readonly TrajectoryClass[] = [
  'thrashing',
  'stagnating',
  'awaiting-wake',
  'unknown',
  'slow',
  'productive',
];

/** What the filter counts a work as: its class, or `finished` once nobody is on it any more. */
export type Group = TrajectoryClass | 'finished';
export const groups: readonly Group[] = [...urgency, 'finished'];

export const meaning: Readonly<Record<Group, string>> = {
  thrashing: 'goes back and forth between states it had already left',
  stagnating: 'runs the same failing gate without getting further',
  'awaiting-wake': 'stopped and waits to be told to go on',
  unknown: 'the evidence does not allow a judgment',
  slow: 'works, but nothing shows that it got further',
  productive: 'gets further',
  finished: 'done or released',
};

/** Classes that ask a person to act. */
export const isUrgent = (group: string): boolean => group === 'thrashing' || group === 'stagnating';

export const groupOf = (work: Pick<WorkView, 'class' | 'phase'>): Group =>
  work.phase === 'done' || work.phase === 'done-claimed' || work.phase === 'released' ? 'finished' : work.class;

/** Characters of an id or signature that a person compares by eye. */
const SHORT = 10;
export const short = (id: string): string => (id.length > SHORT + 2 ? `${id.slice(0, SHORT)}…` : id);

/** A value that is not known: a dash that says why, never a number. */
export const missing = (reason: string): Markup =>
  h(
    'span',
    { class: 'missing', title: reason },
    h('span', { 'aria-hidden': 'true' }, '–'),
    h('span', { class: 'sr' }, reason),
  );

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago; a time ahead of `now` (clocks differ) is "just now". Milliseconds since 1970. */
export function ago(time: number, now: number): string {
  const passed = now - time;
  if (passed < 5_000) return 'just now';
  if (passed < MINUTE) return `${Math.floor(passed / 1_000)} s ago`;
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`;
  if (passed < 10 * HOUR) return `${Math.floor(passed / HOUR)} h ${Math.floor((passed % HOUR) / MINUTE)} min ago`;
  if (passed < 2 * DAY) return `${Math.floor(passed / HOUR)} h ago`;
  return `${Math.floor(passed / DAY)} d ago`;
}

/** A reported time as a distance that the page keeps current; the exact time is its title. */
export function moment(iso: string | null, now: number, absent: string): Markup {
  if (iso === null) return missing(absent);
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return missing('the reported time cannot be read');
  const exact = new Date(time).toISOString();
  return h(
    'time',
    { datetime: exact, title: exact.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'), 'data-ago': true },
    ago(time, now),
  );
}

export function money(usd: number | null): Markup | string {
  if (usd === null || !Number.isFinite(usd)) return missing('no cost was reported for this work');
  if (usd > 0 && usd < 0.01) return '< $0.01';
  return `$${usd.toFixed(2)}`;
}

export const count = (value: number | null | undefined, absent: string): Markup | string =>
  value === null || value === undefined || !Number.isFinite(value) ? missing(absent) : String(value);

export const plural = (many: number, one: string): string => `${many} ${one}${many === 1 ? '' : 's'}`;

/** The class as a word beside a shape; colour only repeats what both say. */
export const classMark = (name: string): Markup =>
  h('span', { class: `class class-${name}` }, h('span', { class: 'shape', 'aria-hidden': 'true' }), name);

/** Ids are any text; what a URL cannot carry (half of a surrogate pair) becomes U+FFFD. */
export const workPath = (work: string): string => `/works/${encodeURIComponent(work.toWellFormed())}`;

/** An argument of a command that is shown for copying: quoted for a POSIX shell where it has to be. */
export const shellWord = (word: string): string =>
  /^[A-Za-z0-9._:@%+=,/-]+$/.test(word) && !word.startsWith('-') ? word : `'${word.replaceAll("'", "'\\''")}'`;

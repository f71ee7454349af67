import type { DeadLetterView, PositionText } from '@headway/contracts';
import { paths } from '../assets.ts';
import { h, type Markup, reported } from '../view/markup.ts';
import { moment, plural, workPath } from '../view/words.ts';
import { document } from './frame.ts';

export interface DeadLettersPage {
  /** In the order of the log. */
  readonly letters: readonly DeadLetterView[];
  /** There are more than are shown. */
  readonly more: boolean;
  readonly tenant: string;
  readonly change: number;
  readonly position: PositionText;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What could not be handled, at `/deadletters`: each with its error, what waits behind it, and a way to retry or drop it. */
export function renderDeadLetters({ letters, more, tenant, change, position, now }: DeadLettersPage): string {
  const main = h(
    'div',
    { id: 'letters' },
    h('h1', {}, 'Dead letters'),
    letters.length === 0
      ? h('p', { class: 'none' }, 'Everything could be handled. A message that cannot be is shown here with its error.')
      : [
          h(
            'p',
            { class: 'aside' },
            'Each of these messages could not be handled. The work it belongs to stands still from there on; all others go on.',
          ),
          operatorFields(),
          letters.map((letter) => row(letter, now)),
        ],
    more && h('p', { class: 'aside' }, 'There are more: `headway deadletter list` shows all of them.'),
  );
  return document({
    title: `${plural(letters.length, 'dead letter')} · Headway`,
    script: paths.lettersScript,
    tenant,
    change,
    position,
    now,
    main,
  });
}

/** Who acts and why. The token stays in the page and goes with the request alone. */
const operatorFields = (): Markup =>
  h(
    'div',
    { class: 'operator' },
    field('Operator token', { id: 'token', type: 'password', autocomplete: 'off' }),
    field('Why', { id: 'why', type: 'text', maxlength: 1_024, placeholder: 'one line, for the record' }),
  );

const field = (label: string, attributes: Readonly<Record<string, string | number>>): Markup =>
  h('label', {}, h('span', {}, label), h('input', attributes));

function row(letter: DeadLetterView, now: number): Markup {
  const { letter: id, work, error, attempts, waiting, reader, subject, recordedAt } = letter;
  return h(
    'section',
    { class: 'letter', 'data-letter': id, 'aria-label': id },
    h('h2', {}, work === null ? reported(subject) : h('a', { href: workPath(work) }, reported(work))),
    h('p', { class: 'error' }, reported(error)),
    h(
      'p',
      { class: 'aside' },
      h('code', {}, id),
      ` · ${reader} · tried ${attempts === 1 ? 'once' : `${attempts} times`} · `,
      waiting === 0 ? 'nothing waits behind it yet' : `${plural(waiting, 'message')} behind it`,
      ' · ',
      moment(recordedAt, now, 'no time'),
    ),
    h(
      'p',
      { class: 'acts' },
      h('button', { type: 'button', disabled: true, 'data-act': 'retry', 'data-key': `retry ${id}` }, 'Retry'),
      h('button', { type: 'button', disabled: true, 'data-act': 'drop', 'data-key': `drop ${id}` }, 'Drop'),
      h('output', { 'aria-live': 'polite' }),
    ),
  );
}

import type { SignalView } from '@headway/contracts';
import { paths } from '../assets.ts';
import { h, type Markup } from '../view/markup.ts';
import { toHtml } from './html.ts';

export interface Frame {
  readonly title: string;
  readonly script: string;
  readonly tenant: string;
  /** The change that the page covers; the stream is followed from there. */
  readonly change: number;
  /** Up to where the view covers the evidence. */
  readonly position: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly work?: string;
  readonly main: Markup;
  /** The open and acknowledged signals that the script starts with. */
  readonly signals?: readonly SignalView[];
}

/** The document around every page: head, the header with the connection's state, and the line that says how fresh it is. */
export function document(frame: Frame): string {
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, frame.title),
    h('link', { rel: 'icon', href: paths.icon, type: 'image/svg+xml' }),
    h('link', { rel: 'stylesheet', href: paths.style }),
    [...paths.modulePreloads].map((href) => h('link', { rel: 'modulepreload', href })),
    h('script', { type: 'module', src: frame.script }),
  );
  const header = h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: '/' }, h('span', { class: 'logo', 'aria-hidden': 'true' }), 'Headway'),
    h(
      'nav',
      { class: 'pages', 'aria-label': 'Pages' },
      h('a', { href: '/' }, 'Fleet'),
      h('a', { href: '/report' }, 'Report'),
    ),
    h('span', { class: 'tenant' }, 'tenant ', h('bdi', {}, frame.tenant)),
    h(
      'p',
      { id: 'connection', role: 'status', 'data-state': 'static' },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      h('span', { 'data-text': true }, 'Not live: reload to refresh'),
    ),
  );
  const footer = h(
    'footer',
    {},
    h(
      'p',
      {},
      'Rendered ',
      new Date(frame.now)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC'),
      ', covering the evidence up to ',
      h('code', {}, frame.position),
    ),
    h('p', {}, h('a', { href: '/deadletters' }, 'Dead letters')),
  );
  const body = h(
    'body',
    { 'data-now': new Date(frame.now).toISOString(), 'data-change': frame.change, 'data-work': frame.work },
    h('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
    header,
    h('main', { id: 'main', tabindex: '-1' }, frame.main),
    footer,
    h('div', { id: 'announcements', class: 'sr', 'aria-live': 'polite' }),
    frame.signals !== undefined &&
      h('div', { id: 'open-signals', hidden: true, 'data-signals': JSON.stringify(frame.signals) }),
  );
  return `<!doctype html>\n${toHtml(h('html', { lang: 'en' }, head, body))}\n`;
}

import { ago } from '../view/words.ts';
import { browser, must, type PageElement } from './dom.ts';
import { announce } from './live.ts';

/** Milliseconds between two updates of the distances in time on the page. */
const REFRESH = 10_000;
/** Milliseconds for which a copy button says that it copied. */
const SAID = 2_000;

const served = Date.parse(browser.document.body.dataset.now ?? '');
const opened = performance.now();

/** The server's time, carried on: the clock of this machine may be wrong. Milliseconds since 1970. */
export const now = (): number => served + (performance.now() - opened);

/** The change that the served page covers. */
export const servedChange = (): number => Number(browser.document.body.dataset.change);

export function keepTimesCurrent(): void {
  setInterval(() => {
    const time = now();
    for (const element of browser.document.querySelectorAll('time[data-ago]')) {
      const text = ago(Date.parse(element.getAttribute('datetime') ?? ''), time);
      if (element.textContent !== text) element.textContent = text;
    }
  }, REFRESH);
}

/** Copy buttons work by delegation, since rows come and go; they are enabled as rows are made. */
export function serveCopyButtons(): void {
  enableCopyButtons(browser.document);
  browser.document.addEventListener('click', ({ target }) => {
    const button = target?.closest('button[data-copy]') ?? null;
    if (button !== null) void copy(button);
  });
}

export function enableCopyButtons(within: Pick<PageElement, 'querySelectorAll'>): void {
  for (const button of within.querySelectorAll('button[data-copy]')) button.disabled = false;
}

async function copy(button: PageElement): Promise<void> {
  const line = button.dataset.copy ?? '';
  try {
    if (browser.navigator.clipboard === undefined) throw new Error('no clipboard here');
    await browser.navigator.clipboard.writeText(line);
    say(button, 'Copied');
  } catch {
    // Without the right to the clipboard the line is selected, so that the usual keys copy it.
    browser.getSelection()?.selectAllChildren(must('code', button.parentElement ?? browser.document));
    say(button, 'Selected');
  }
}

function say(button: PageElement, word: string): void {
  button.textContent = word;
  announce(word);
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SAID);
}

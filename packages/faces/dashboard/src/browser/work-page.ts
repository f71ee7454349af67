import type { SignalView, WorkView } from '@headway/contracts';
import { browser, keepingFocus, must } from './dom.ts';
import { announce, followStream } from './live.ts';
import { enableCopyButtons, keepTimesCurrent, serveCopyButtons, servedChange } from './page.ts';

/** Milliseconds that changes are gathered before the page is read again, and the least between two readings. */
const GATHER = 300;

const work = browser.document.body.dataset.work ?? '';
let shownClass = must('#work').dataset.class;
let reading = false;
let again = false;

/** The server renders the whole of a work; a change of it is shown by taking over the newly rendered part. */
async function read(): Promise<void> {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  await new Promise((resolve) => setTimeout(resolve, GATHER));
  again = false;
  try {
    const answer = await fetch(browser.location.href, { headers: { accept: 'text/html' } });
    if (answer.ok)
      take(new browser.DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#work'));
  } catch (error) {
    console.warn('the work could not be read again; the next change tries it again', error);
  }
  reading = false;
  if (again) void read();
}

function take(fresh: ReturnType<typeof browser.document.querySelector>): void {
  if (fresh === null) return;
  keepingFocus(() => must('#work').replaceWith(fresh));
  enableCopyButtons(fresh);
  if (fresh.dataset.class !== shownClass)
    announce(`${work} is now ${fresh.dataset.class}: ${must('.reason', fresh).textContent}`);
  shownClass = fresh.dataset.class;
}

keepTimesCurrent();
serveCopyButtons();
followStream(servedChange(), {
  work: (data) => {
    if ((data as WorkView).work === work) void read();
  },
  signal: (data) => {
    if ((data as SignalView).works.includes(work)) void read();
  },
});

import type { SignalView, WorkView } from '@headway/contracts';
import { byUrgency, countGroups, FLEET_ROWS, fleetTitle, type RowKey, rowKey, workRow } from '../view/fleet.ts';
import { noteAcknowledged, redirect, sharedFailures } from '../view/signals.ts';
import { groupOf, isUrgent } from '../view/words.ts';
import { browser, buildElement, keepingFocus, must, type PageElement } from './dom.ts';
import { announce, followStream } from './live.ts';
import { enableCopyButtons, keepTimesCurrent, now, serveCopyButtons, servedChange } from './page.ts';

/** Milliseconds that changes are gathered before they are drawn together. */
const GATHER = 80;
/** Closed signals remembered, so that a late row does not show one again; the oldest go first. */
const CLOSED_SIGNALS = 5_000;

interface Row extends RowKey {
  readonly element: PageElement;
  readonly class: string;
  readonly group: string;
  readonly change: number;
}

const body = must('#fleet tbody');
const rows = new Map<string, Row>();
const open = new Map<string, SignalView>();
const closed = new Set<string>();
const acknowledged = new Map<string, SignalView>();
const board = { open, closed, acknowledged };
const signalChanges = new Map<string, number>();
const pendingWorks = new Map<string, WorkView>();
const pendingSignals = new Map<string, SignalView>();
let drawing = false;
let filter = 'all';

function readPage(): void {
  for (const signal of JSON.parse(must('#open-signals').dataset.signals ?? '[]') as SignalView[]) {
    if (signal.state === 'open') open.set(signal.signal, signal);
    else {
      noteAcknowledged(acknowledged, signal);
      remember(signal.signal);
    }
  }
  for (const element of body.children) {
    const { work = '', rank, since = '', class: name = '', group = '', change } = element.dataset;
    rows.set(work, { element, work, rank: Number(rank), since, class: name, group, change: Number(change) });
  }
  for (const button of browser.document.querySelectorAll('[data-filter]')) {
    button.disabled = false;
    button.addEventListener('click', () => {
      filter = button.dataset.filter ?? 'all';
      applyFilter();
    });
  }
}

function gather(): void {
  if (drawing) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    keepingFocus(draw);
  }, GATHER);
}

function draw(): void {
  const touched = takeSignals();
  for (const work of pendingWorks.values()) {
    const known = rows.get(work.work);
    const element = buildElement(workRow(work, board, now()));
    enableCopyButtons(element);
    element.classList.add('changed');
    known?.element.replaceWith(element);
    if (known === undefined) body.append(element);
    tell(work, known);
    rows.set(work.work, { ...rowKey(work), element, class: work.class, group: groupOf(work), change: work.change });
    touched.delete(work.work);
  }
  pendingWorks.clear();
  for (const work of touched) drawRedirect(work);
  arrange();
  applyFilter();
}

/** Takes the gathered signals in; the works whose redirect may look different now. */
function takeSignals(): Set<string> {
  const touched = new Set<string>();
  if (pendingSignals.size === 0) return touched;
  for (const signal of pendingSignals.values()) {
    for (const work of [...(open.get(signal.signal)?.works ?? []), ...signal.works]) touched.add(work);
    if (signal.state === 'open') {
      if (signal.kind === 'shared-failure' && !open.has(signal.signal)) {
        announce(`Shared failure of ${signal.works.length} works: ${signal.reason}`);
      }
      open.set(signal.signal, signal);
    } else {
      open.delete(signal.signal);
      noteAcknowledged(acknowledged, signal);
      remember(signal.signal);
    }
  }
  pendingSignals.clear();
  const banners = buildElement(sharedFailures(board, now()));
  enableCopyButtons(banners);
  must('#shared-failures').replaceWith(banners);
  return touched;
}

function remember(signal: string): void {
  closed.add(signal);
  signalChanges.delete(signal);
  const [oldest] = closed;
  if (closed.size > CLOSED_SIGNALS && oldest !== undefined) closed.delete(oldest);
}

function drawRedirect(work: string): void {
  const row = rows.get(work);
  if (row === undefined) return;
  const slot = buildElement(
    redirect({ work, class: row.class, openSignal: row.element.dataset.signal ?? null }, board, now()),
  );
  enableCopyButtons(slot);
  must('[data-slot="redirect"]', row.element).replaceWith(slot);
}

function tell(work: WorkView, known: Row | undefined): void {
  if (known === undefined ? !isUrgent(work.class) : known.class === work.class) return;
  announce(`${work.work} is now ${work.class}: ${work.assessment?.reason ?? 'not assessed yet'}`);
}

/** Moves only the rows that are out of place, and lets go of those beyond the limit. */
function arrange(): void {
  const sorted = [...rows.values()].sort(byUrgency);
  for (const row of sorted.splice(FLEET_ROWS)) {
    row.element.remove();
    rows.delete(row.work);
    acknowledged.delete(row.work);
  }
  let next = body.firstElementChild;
  for (const { element } of sorted) {
    if (element === next) next = next.nextElementSibling;
    else body.insertBefore(element, next);
  }
}

function applyFilter(): void {
  let shown = 0;
  for (const { element, group } of rows.values()) {
    element.hidden = filter !== 'all' && group !== filter;
    if (!element.hidden) shown += 1;
  }
  const counts = countGroups([...rows.values()].map((row) => row.group));
  for (const button of browser.document.querySelectorAll('[data-filter]')) {
    button.setAttribute('aria-pressed', String(button.dataset.filter === filter));
  }
  for (const element of browser.document.querySelectorAll('[data-count]')) {
    const text = String(counts[element.dataset.count as keyof typeof counts] ?? 0);
    if (element.textContent !== text) element.textContent = text;
  }
  must('#empty').hidden = rows.size > 0;
  must('#fleet').hidden = shown === 0;
  must('#none-shown').hidden = rows.size === 0 || shown > 0;
  browser.document.title = fleetTitle(counts);
}

readPage();
applyFilter();
keepTimesCurrent();
serveCopyButtons();
followStream(servedChange(), {
  work(data) {
    const work = data as WorkView;
    const newest = pendingWorks.get(work.work)?.change ?? rows.get(work.work)?.change ?? -1;
    if (work.change <= newest) return;
    pendingWorks.set(work.work, work);
    gather();
  },
  signal(data, change) {
    const signal = data as SignalView;
    if (closed.has(signal.signal) || change < (signalChanges.get(signal.signal) ?? -1)) return;
    signalChanges.set(signal.signal, change);
    pendingSignals.set(signal.signal, signal);
    gather();
  },
});

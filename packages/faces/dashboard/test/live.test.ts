import { findChromium, type OpenBrowser, openBrowser } from '@headway/testkit/browser';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { renderFleet, renderUnknownWork, renderWork, workPath } from '../src/index.ts';
import { assessment, brief, page as frame, signal, timeline, work } from './example-fleet.ts';
import { PageServer } from './page-server.ts';

const chromium = findChromium();
if (chromium === null) console.warn('live page: skipped, no Chromium here (set HEADWAY_CHROMIUM or install chromium)');

const hostile = `<img src=x onerror="document.title='taken'"> <b>W</b>`;
const quiet = work('quiet', 'slow', { change: 1 });
const steady = work('steady', 'productive', { change: 2 });
const served = { ...frame, change: 2 };

const moving = (change: number) => work('W-1', 'slow', { change });
const stuck = (change: number) =>
  work('W-1', 'stagnating', {
    change,
    openSignal: 's1',
    attempts: 3,
    assessment: assessment('stagnating', {
      rule: 'same-failure',
      gate: 'test',
      reason: 'test failed 3 times running',
      failures: ['a > b'],
    }),
  });
const freed = (change: number) =>
  work('W-1', 'productive', {
    change,
    assessment: assessment('productive', { rule: 'pass-stands', reason: 'test passes' }),
  });

describe.skipIf(chromium === null)('the fleet in a browser', () => {
  let browser: OpenBrowser;
  let server: PageServer;
  let url: string;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    browser = await openBrowser(chromium as string);
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    server = new PageServer();
    url = await server.start();
    server.page = () => renderFleet({ works: [quiet, steady], signals: [], ...served });
    errors = [];
    page = await browser.context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
  });
  afterEach(async () => {
    await page.close();
    await server.stop();
  });

  const open = async (path = '/'): Promise<void> => {
    await page.goto(url + path);
    await page.locator('#connection[data-state="live"]').waitFor();
    // A reload would lose this mark, so each test can tell whether the page is still the first one.
    await page.evaluate('window.firstPage = true');
  };
  const order = (): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('#fleet tbody tr')].filter((row) => !row.hidden).map((row) => row.dataset.work)`,
    );
  const row = (id: string) => page.locator(`tr[data-work="${id}"]`);
  const stillFirstPage = async (): Promise<void> => {
    expect(await page.evaluate('window.firstPage === true')).toBe(true);
    expect(server.pages.filter((path) => path === '/')).toHaveLength(1);
  };

  test('a work appears, turns stagnating, moves to the top with its redirect, and is freed, all without a reload', async () => {
    await open();
    server.work(moving(3));
    await row('W-1').waitFor();
    expect(await order()).toEqual(['W-1', 'quiet', 'steady']);

    server.work(work('quiet', 'unknown', { change: 4 }));
    await page.locator('tr[data-work="quiet"][data-class="unknown"]').waitFor();
    expect(await order()).toEqual(['quiet', 'W-1', 'steady']);

    server.work(stuck(5));
    server.signal(6, signal('s1', ['W-1'], { signature: 'c0ffee'.repeat(10) }));
    await row('W-1').getByText('c0ffeec0ff…').waitFor();
    expect(await order()).toEqual(['W-1', 'quiet', 'steady']);
    expect(await row('W-1').innerText()).toContain('headway ack s1 --agree');
    expect(await row('W-1').innerText()).toContain('test failed 3 times running');
    expect(await page.title()).toBe('(1) Headway');
    expect(await page.locator('[data-count="stagnating"]').innerText()).toBe('1');
    await page
      .locator('#announcements')
      .getByText('W-1 is now stagnating: test failed 3 times running')
      .waitFor({ state: 'attached' });

    server.work(freed(7));
    server.signal(8, signal('s1', ['W-1'], { state: 'withdrawn' }));
    await page.locator('tr[data-work="W-1"][data-class="productive"]').waitFor();
    expect(await row('W-1').innerText()).not.toMatch(/headway ack|c0ffee|3 times/);
    expect((await order())[0]).toBe('quiet');
    expect(await page.title()).toBe('Headway');
    await stillFirstPage();
    expect(errors).toEqual([]);
  });

  test('an acknowledged signal takes its redirect along, though the class stands', async () => {
    server.page = () => renderFleet({ works: [stuck(2)], signals: [signal('s1', ['W-1'])], ...served });
    await open();
    await row('W-1').getByText('headway ack s1 --agree').waitFor();
    const closing = { from: 'lead', intent: 'AGREE' };
    server.signal(3, signal('s1', ['W-1'], { state: 'acknowledged', closing }));
    await row('W-1').getByText('headway ack').waitFor({ state: 'hidden' });
    await row('W-1').getByText('Acknowledged by lead (AGREE)').waitFor();
    expect(await row('W-1').getAttribute('data-class')).toBe('stagnating');
    expect(errors).toEqual([]);
  });

  test('a shared failure stands above the table while it is open, and takes no ack line per work', async () => {
    await open();
    server.work(work('quiet', 'stagnating', { change: 3, openSignal: 'sh' }));
    server.signal(4, signal('sh', ['quiet', 'steady'], { kind: 'shared-failure', reason: 'lint fails alike' }));
    await page.locator('#shared-sh').waitFor();
    expect(await page.locator('#shared-sh').innerText()).toContain('lint fails alike');
    expect(await row('steady').innerText()).toContain('Shared failure sh');
    expect(await row('quiet').innerText()).not.toContain('headway ack');
    server.signal(5, signal('sh', ['quiet'], { kind: 'shared-failure', state: 'withdrawn' }));
    await page.locator('#shared-sh').waitFor({ state: 'detached' });
    expect(await row('steady').innerText()).not.toContain('Shared failure');
    expect(errors).toEqual([]);
  });

  test('an older state of a row never replaces a newer one', async () => {
    await open();
    server.work(freed(9));
    server.work(stuck(5));
    server.work(work('after', 'slow', { change: 10 }));
    await row('after').waitFor();
    expect(await row('W-1').getAttribute('data-class')).toBe('productive');
  });

  test('a dropped stream shows as reconnecting and is resumed from the last event', async () => {
    await open();
    server.work(moving(3));
    await row('W-1').waitFor();
    server.refuse = 503;
    server.drop();
    await page.locator('#connection[data-state="reconnecting"]').waitFor();
    expect(await page.locator('#connection').innerText()).toContain('Reconnecting');
    server.work(stuck(4));
    server.refuse = null;
    await page.locator('tr[data-work="W-1"][data-class="stagnating"]').waitFor();
    await page.locator('#connection[data-state="live"]').waitFor();
    expect(server.resumed).toEqual([2, 3]);
    server.drop();
    await expect.poll(() => server.resumed, { timeout: 10_000 }).toEqual([2, 3, 4]);
    expect(await order()).toEqual(['W-1', 'quiet', 'steady']);
    await stillFirstPage();
    // The browser itself reports what it could not load; the script may add nothing to it.
    expect(errors.filter((error) => !error.startsWith('Failed to load resource'))).toEqual([]);
  });

  test('what a reporter writes stays text, live as well', async () => {
    await open();
    server.work(
      work(hostile, 'stagnating', {
        change: 3,
        worker: hostile,
        lane: hostile,
        openSignal: 's1',
        assessment: assessment('stagnating', { reason: hostile, gate: hostile, failures: [hostile] }),
      }),
    );
    server.signal(4, signal('s1', [hostile], { reason: hostile, gate: hostile, to: [hostile] }));
    server.signal(5, signal('sh', [hostile, 'quiet'], { kind: 'shared-failure', reason: hostile }));
    await page.locator('#shared-sh').waitFor();
    await page.locator('.is-work', { hasText: hostile }).first().waitFor();
    expect(await page.locator('main img, main b, main script').count()).toBe(0);
    expect(await page.title()).toBe('(1) Headway');
    expect(errors).toEqual([]);
  });

  test('the filter works by keyboard, says what is pressed, and holds for rows that come later', async () => {
    await open();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.locator('[data-filter="all"]').focus();
    for (const _step of ['thrashing', 'stagnating']) await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await page.locator('[aria-pressed="true"]').getAttribute('data-filter')).toBe('stagnating');
    expect(await order()).toEqual([]);
    expect(await page.locator('#none-shown').isVisible()).toBe(true);
    server.work(stuck(3));
    server.work(work('later', 'slow', { change: 4 }));
    await row('W-1').waitFor();
    expect(await order()).toEqual(['W-1']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    expect(await order()).toEqual(['W-1', 'later', 'quiet', 'steady']);
    expect(errors).toEqual([]);
  });

  test('the focus stays where it is when its row is drawn again and moves', async () => {
    await open();
    await row('steady').getByRole('link').focus();
    server.work(work('steady', 'thrashing', { change: 3 }));
    await page.locator('tr[data-work="steady"][data-class="thrashing"]').waitFor();
    expect(await page.evaluate(`document.activeElement.closest('tr')?.dataset.work`)).toBe('steady');
    expect((await order())[0]).toBe('steady');
  });

  test('a changed row flashes, but not for those who asked for less motion', async () => {
    const animation = (): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('tr[data-work="steady"]')).animationName`);
    await open();
    expect(await animation()).toBe('none');
    server.work(work('steady', 'slow', { change: 3 }));
    await page.locator('tr[data-work="steady"][data-class="slow"]').waitFor();
    expect(await animation()).toBe('flash');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await animation()).toBe('none');
  });

  test('all of the command is copied, by its button and by selecting the line, also where it is shown cut off', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    const id = '3f9a12cd'.repeat(8);
    const stuckBy = work('W-1', 'stagnating', { change: 2, openSignal: id });
    server.page = () => renderFleet({ works: [stuckBy], signals: [signal(id, ['W-1'])], ...served });
    await open();
    await row('W-1').getByRole('button').press('Enter');
    await row('W-1').getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`headway ack ${id} --agree`);
    await row('W-1').locator('.command code').click();
    expect(await page.evaluate('getSelection().toString()')).toBe(`headway ack ${id} --agree`);
  });

  test('an empty fleet fills without a reload', async () => {
    server.page = () => renderFleet({ works: [], signals: [], ...served });
    await open();
    expect(await page.locator('#empty').isVisible()).toBe(true);
    server.work(moving(3));
    await row('W-1').waitFor();
    expect(await page.locator('#empty').isVisible()).toBe(false);
    await stillFirstPage();
  });

  test('without script the table is complete', async () => {
    server.page = () => renderFleet({ works: [stuck(2), quiet], signals: [signal('s1', ['W-1'])], ...served });
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(url);
    expect(await order()).toEqual(['W-1', 'quiet']);
    expect(await row('W-1').innerText()).toContain('headway ack s1 --agree');
    expect(await page.locator('#connection').innerText()).toContain('Not live');
  });

  test('nothing is wider than a phone, and rows are cards there', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    server.page = () =>
      renderFleet({
        works: [stuck(2), work('x'.repeat(200), 'slow')],
        signals: [signal('s'.repeat(64), ['W-1'], { kind: 'shared-failure' })],
        ...served,
      });
    await open();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(
      await page
        .locator('#fleet tbody tr')
        .first()
        .evaluate(
          (element) =>
            (globalThis as unknown as { getComputedStyle(of: unknown): { display: string } }).getComputedStyle(element)
              .display,
        ),
    ).toBe('grid');
  });

  test('the page of a work that nothing is known about turns into its page', async () => {
    server.page = () => renderUnknownWork({ work: hostile, ...served });
    await open(workPath(hostile));
    expect(await page.locator('#work').innerText()).toContain('Nothing has been reported');
    expect(await page.locator('main img').count()).toBe(0);
    const found = work(hostile, 'slow', { change: 3 });
    server.page = () =>
      renderWork({ work: found, timeline: timeline.slice(0, 2), signals: [], briefMarkdown: null, ...served });
    server.work(found);
    await page.locator('#work[data-class="slow"]').waitFor();
    expect(await page.evaluate('window.firstPage === true')).toBe(true);
    expect(errors).toEqual([]);
  });

  test('the page of a work follows its class and timeline', async () => {
    let shown = moving(2);
    let facts = timeline.slice(0, 2);
    server.page = () => renderWork({ work: shown, timeline: facts, signals: [], briefMarkdown: brief, ...served });
    await open('/works/W-1');
    await page.locator('#work[data-class="slow"]').waitFor();
    shown = stuck(3);
    facts = timeline.slice(0, 3);
    server.work(work('another', 'slow', { change: 3 }));
    server.work(stuck(4));
    await page.locator('#work[data-class="stagnating"]').waitFor();
    expect(await page.locator('.entry').count()).toBe(3);
    expect(await page.locator('.redirect-block').innerText()).toContain('headway ack s1 --agree');
    expect(await page.evaluate('window.firstPage === true')).toBe(true);
    expect(server.pages).toEqual(['/works/W-1', '/works/W-1']);
    expect(errors).toEqual([]);
  });
});

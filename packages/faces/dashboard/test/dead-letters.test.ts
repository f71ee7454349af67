import type { DeadLetterView } from '@headway/contracts';
import { findChromium, openBrowser } from '@headway/testkit/browser';
import { expect, test } from 'vitest';
import { renderDeadLetters } from '../src/index.ts';
import { page as frame } from './example-fleet.ts';
import { PageServer } from './page-server.ts';

const chromium = findChromium();
if (chromium === null) console.warn('dead letters: the browser part is skipped, no Chromium here');

const letter = (over: Partial<DeadLetterView> = {}): DeadLetterView => ({
  letter: 'projection-EVIDENCE-1-7',
  reader: 'projection',
  position: 'EVIDENCE:1:7',
  subject: 'evidence.3.default.W-1',
  work: '<b>W-1</b>',
  error: 'version 2 of evidence is not known',
  state: 'open',
  attempts: 2,
  waiting: 3,
  recordedAt: '2026-01-01T00:00:00Z',
  closedAt: null,
  closedBy: null,
  why: null,
  ...over,
});

test('shows each dead letter with its error and what waits; text of others stays text', () => {
  const html = renderDeadLetters({ letters: [letter()], more: false, ...frame });
  expect(html).toContain('&lt;b&gt;W-1&lt;/b&gt;');
  expect(html).toContain('version 2 of evidence is not known');
  expect(html).toContain('tried 2 times');
  expect(html).toContain('3 messages behind it');
  const empty = renderDeadLetters({ letters: [], more: false, ...frame });
  expect(empty).toContain('Everything could be handled');
  expect(empty).not.toContain('<button');
});

test.skipIf(chromium === null)('a person retries one in a browser, and is told what came of it', async () => {
  const browser = await openBrowser(chromium as string);
  const server = new PageServer();
  const url = await server.start();
  server.page = () =>
    renderDeadLetters({ letters: [letter(), letter({ letter: 'projection-EVIDENCE-1-9' })], more: false, ...frame });
  try {
    const page = await browser.context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const asked: { method: string; token: string | undefined; body: string | null }[] = [];
    let state = 'open';
    await page.route('**/v1/deadletters/**', async (route) => {
      const request = route.request();
      if (request.method() === 'POST')
        asked.push({
          method: request.url().replace(url, ''),
          token: (await request.allHeaders()).authorization,
          body: request.postData(),
        });
      const body = request.method() === 'POST' ? { position: 'ACTS:1:1' } : { ...letter(), state };
      await route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(body) });
    });
    await page.goto(`${url}/deadletters`);
    const first = page.locator('[data-letter="projection-EVIDENCE-1-7"]');
    await first.getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => first.locator('output').textContent()).toContain('operator token');
    expect(asked).toEqual([]);
    await page.getByLabel('Operator token').fill('secret');
    await page.getByLabel('Why').fill('fixed');
    await first.getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => first.locator('output').textContent()).toContain('It failed again: version 2');
    state = 'retried';
    await first.getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => page.locator('[data-letter]').count()).toBe(1);
    expect(asked.at(-1)).toEqual({
      method: '/v1/deadletters/projection-EVIDENCE-1-7/retry',
      token: 'Bearer secret',
      body: '{"why":"fixed"}',
    });
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
    await server.stop();
  }
});

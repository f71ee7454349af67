import type { Durability } from '@headway/eventlog';
import { expect, it } from 'vitest';
import { createHttp, createLogger, createMetrics, measureDurability } from './index.ts';

const logger = createLogger('test', { write: () => {} });

async function scrape(metrics = createMetrics('test')) {
  const app = createHttp({
    service: 'test',
    logger,
    access: { operatorTokenSha256: null, loopbackOpen: false },
    checks: {},
    publicHosts: [],
    metrics,
  });
  const answer = await app.inject({ url: '/metrics', headers: { host: '10.0.0.1:4683' } });
  await app.close();
  return answer;
}

it('shows each metric as it is when asked, by an address and without a token', async () => {
  const metrics = createMetrics('test');
  let fenced = 2;
  metrics.counter('headway_fenced_writes', 'Writes refused', () => fenced);
  metrics.gauge('headway_works', 'Works', async () => [
    { value: 3, labels: { class: 'slow' } },
    { value: 0, labels: { class: 'thrashing' } },
  ]);
  const first = await scrape(metrics);
  expect(first.statusCode).toBe(200);
  expect(first.headers['content-type']).toContain('text/plain; version=0.0.4');
  expect(first.body).toContain('# HELP headway_fenced_writes_total Writes refused');
  expect(first.body).toMatch(/^headway_fenced_writes_total 2$/m);
  expect(first.body).toMatch(/^headway_works\{class="slow"\} 3$/m);
  expect(first.body).toMatch(/^headway_works\{class="thrashing"\} 0$/m);
  expect(first.body).toMatch(/^headway_service_info\{service="test",version="[\d.]+"\} 1$/m);
  fenced = 5;
  expect((await scrape(metrics)).body).toMatch(/^headway_fenced_writes_total 5$/m);
});

it('leaves out what cannot be measured, and shows the rest', async () => {
  const metrics = createMetrics('test');
  metrics.gauge('headway_dead_letters', 'Dead letters', async () => {
    throw new Error('the store is away');
  });
  const answer = await scrape(metrics);
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain('headway_resident_memory_bytes');
  expect(answer.body).not.toMatch(/^headway_dead_letters /m);
});

it('refuses a name that is not one of ours', () => {
  expect(() => createMetrics('test').gauge('Works of W-1', '', () => 1)).toThrow(RangeError);
});

it('tells whether an acknowledgement of the log is durable, as the server says at the moment', async () => {
  let said: Durability = { meaning: 'published', replicas: 3, sync: '2m', serverVersion: '2.9.10', text: 'for people' };
  const metrics = createMetrics('test');
  measureDurability(metrics, { durability: async () => said });
  const scraped = async () => (await metrics.render()).split('\n').filter((line) => line.startsWith('headway_log_'));
  expect(await scraped()).toEqual(['headway_log_durable 0', 'headway_log_replicas 3']);
  said = { ...said, meaning: 'durable', sync: 'always', replicas: 5 };
  expect(await scraped()).toEqual(['headway_log_durable 1', 'headway_log_replicas 5']);
  said = { ...said, meaning: 'unknown', sync: null };
  expect(await scraped()).toEqual(['headway_log_durable 0', 'headway_log_replicas 5']);
});

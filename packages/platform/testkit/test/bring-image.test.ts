import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bringImage } from '../src/infrastructure/bring-image.ts';
import { type FakeEngine, startFakeEngine } from './fake-engine.ts';

let engine: FakeEngine;
beforeAll(async () => {
  engine = await startFakeEngine('silent');
  vi.stubEnv('DOCKER_HOST', engine.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await engine.close();
});

it('gives up at its limit on a registry that never answers, and remembers that', async () => {
  const image = `headway.invalid/absent-${randomUUID()}:1`;
  await expect(bringImage(image, { within: 1_500, insist: true })).rejects.toThrow('within 1.5 s');
  await expect(bringImage(image, { within: 60_000, insist: false })).rejects.toThrow('a short while ago');
  expect(engine.asked.filter((request) => request === 'POST /images/create')).toHaveLength(1);
});

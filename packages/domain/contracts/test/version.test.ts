import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERSION } from '../src/index.ts';

it('is the version of the packages', () => {
  const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(text) as { version: string }).version).toBe(VERSION);
});

import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLogger } from './index.ts';

let lines: Record<string, unknown>[];
const sink = () =>
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
beforeEach(() => {
  lines = [];
});
afterEach(() => vi.unstubAllEnvs());

it('writes one JSON line with service, level, time and message', () => {
  createLogger('ingest', sink()).info({ works: 3 }, 'hello');
  expect(lines).toEqual([expect.objectContaining({ service: 'ingest', level: 'info', msg: 'hello', works: 3 })]);
  expect(Date.parse(String(lines[0]?.time))).not.toBeNaN();
});

it('never writes tokens', () => {
  const token = 'canary-token';
  const logger = createLogger('ingest', sink());
  logger.info({ authorization: token, headers: { authorization: token }, req: { headers: { authorization: token } } });
  logger.info({ token, operator: { token }, settings: { operator: { token, password: token, cookie: token } } });
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toContain(token);
});

it('goes by the level of the environment, and by info where that is none', () => {
  vi.stubEnv('HEADWAY_LOG_LEVEL', 'warn');
  const quiet = createLogger('ingest', sink());
  quiet.info('no');
  quiet.warn('yes');
  vi.stubEnv('HEADWAY_LOG_LEVEL', 'loud');
  createLogger('ingest', sink()).info('yes');
  expect(lines.map((line) => line.msg)).toEqual(['yes', 'yes']);
});

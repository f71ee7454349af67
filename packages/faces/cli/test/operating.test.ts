import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DeadLetterView, type ProjectionView, problem, type RebuildView } from '@headway/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headway, scratchFolder } from './scratch.ts';

const letter: DeadLetterView = {
  letter: 'projection-EVIDENCE-1-7',
  reader: 'projection',
  position: 'EVIDENCE:1:7',
  subject: 'evidence.3.default.W-1',
  work: 'W-1',
  error: 'version 2 of evidence\nis not known',
  state: 'open',
  attempts: 1,
  waiting: 3,
  recordedAt: '2026-01-01T00:00:00Z',
  closedAt: null,
  closedBy: null,
  why: null,
};
const view = (rebuild: Partial<RebuildView>): ProjectionView => ({
  name: 'fleet',
  generation: 2,
  readers: [],
  gaps: [],
  rebuild: {
    state: 'running',
    done: 10,
    total: 40,
    rate: 20,
    etaSeconds: 2,
    requestedBy: 'operator',
    why: 'x',
    requestedAt: '2026-01-01T00:00:00Z',
    endedAt: null,
    error: null,
    ...rebuild,
  },
});

/** The operators' routes of the API, with what was asked kept for a look. */
const state = {
  letter,
  views: [] as ProjectionView[],
  asked: [] as { method: string; url: string; body: string; token: string | undefined }[],
};
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method = '', url = '' } = request;
  state.asked.push({ method, url, body, token: request.headers.authorization });
  const answer = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (method === 'POST' && request.headers.authorization === undefined)
    return answer(403, problem('forbidden', '`operate` is not allowed to viewer. Use a token that may.'));
  if (method === 'POST') return answer(202, { act: 'a', position: 'ACTS:1:1' });
  if (url.startsWith('/v1/projections'))
    return answer(200, { items: [state.views.length > 1 ? state.views.shift() : state.views[0]] });
  if (url.startsWith('/v1/deadletters/')) return answer(200, state.letter);
  return answer(200, { items: [state.letter], next: null, position: 'EVIDENCE:1:9' });
});
let url = '';
beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(state, { letter, views: [], asked: [] });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const cli = (env: NodeJS.ProcessEnv = { HEADWAY_TOKEN: 'secret' }) => headway({ url, state: scratchFolder(), env });

test('lists dead letters in one line each, and shows one with its error', async () => {
  const listed = await cli().run(['deadletter', 'list']);
  expect(listed.code).toBe(0);
  expect(listed.stdout.toString()).toBe(
    'projection-EVIDENCE-1-7 W-1 open tried 1, 3 waiting version 2 of evidence is not known\n',
  );
  const shown = await cli().run(['deadletter', 'show', 'projection-EVIDENCE-1-7', '--json']);
  expect(JSON.parse(shown.stdout.toString())).toEqual(letter);
});

test('retries with a reason, and tells what came of it', async () => {
  const failing = await cli().run(['deadletter', 'retry', letter.letter, '--why', 'fixed', '--as', 'maria']);
  expect(failing.code).toBe(3);
  expect(failing.stderr.toString()).toContain('failed again: version 2');
  expect(state.asked[0]).toEqual({
    method: 'POST',
    url: `/v1/deadletters/${letter.letter}/retry`,
    body: '{"why":"fixed","as":"maria"}',
    token: 'Bearer secret',
  });
  expect(state.asked[1]?.url).toContain('after=ACTS%3A1%3A1');
  state.letter = { ...letter, state: 'retried' };
  const done = await cli().run(['deadletter', 'retry', letter.letter, '--why', 'fixed']);
  expect([done.code, done.stdout.toString()]).toEqual([0, 'projection-EVIDENCE-1-7: tried again, and handled\n']);
});

test('asks for a reason, and says that a token is missing', async () => {
  expect((await cli().run(['deadletter', 'drop', letter.letter])).code).toBe(2);
  const refused = await cli({}).run(['deadletter', 'drop', letter.letter, '--why', 'x']);
  expect(refused.code).toBe(3);
  expect(refused.stderr.toString()).toContain('Use a token that may');
});

test('follows a rebuild with its progress to its end', async () => {
  state.views = [view({}), view({ done: 30, etaSeconds: 1 }), view({ state: 'switched', done: 40, etaSeconds: null })];
  const done = await cli().run(['rebuild', 'fleet', '--why', 'new column']);
  expect(done.stderr.toString().split('\n')).toEqual([
    ' 25% 10/40 messages, 20/s, 2 s to go',
    ' 75% 30/40 messages, 20/s, 1 s to go',
    '100% 40/40 messages, 20/s',
    '',
  ]);
  expect([done.code, done.stdout.toString()]).toEqual([0, 'fleet: switched, generation 2\n']);
});

test('a rebuild that fails ends with 3 and says why; one can be called off', async () => {
  state.views = [view({ state: 'failed', error: 'no space left' })];
  const failing = await cli().run(['rebuild', 'fleet', '--why', 'x']);
  expect([failing.code, failing.stdout.toString()]).toEqual([3, 'fleet: failed, generation 2: no space left\n']);
  state.views = [view({ state: 'cancelled' })];
  expect((await cli().run(['rebuild', 'fleet', '--cancel', '--why', 'x'])).code).toBe(0);
  expect(state.asked.at(-2)?.url).toBe('/v1/projections/fleet/rebuild/cancel');
});

import { connect } from 'node:net';
import { tokenDigest } from '@headway/access';
import { VERSION } from '@headway/contracts';
import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { type CheckResult, createHttp, createLogger, type HttpOptions } from './index.ts';

const TOKEN = 'operator-token-0123456789';
const opened: ReturnType<typeof createHttp>[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

function server(options: Partial<HttpOptions> = {}) {
  const logger = createLogger('test');
  logger.level = 'silent';
  const app = createHttp({
    service: 'test',
    logger,
    access: { operatorTokenSha256: tokenDigest(TOKEN), loopbackOpen: true },
    checks: {},
    publicHosts: ['headway.example', 'other.example:8443'],
    ...options,
  });
  app.get('/read', { config: { act: 'read' } }, async (request) => request.caller);
  app.post('/report', { config: { act: 'report' }, bodyLimit: 100 }, async (request) => ({ got: request.body }));
  app.post('/operate', { config: { act: 'operate' } }, async (request) => request.caller);
  app.get('/open', { config: { act: 'open' } }, async () => ({ open: true }));
  app.get('/break', { config: { act: 'open' } }, async () => {
    throw new Error('inner secret detail');
  });
  opened.push(app);
  return app;
}
const operator = { authorization: `Bearer ${TOKEN}` };
const json = { 'content-type': 'application/json' };

describe('every error is a problem', () => {
  const cases: [string, InjectOptions, string, number][] = [
    ['an unknown address', { method: 'GET', url: '/nothing' }, 'not_found', 404],
    ['an unknown method', { method: 'DELETE', url: '/read' }, 'not_found', 404],
    ['a broken address', { method: 'GET', url: '/%zz' }, 'malformed_request', 400],
    [
      'a body that is too large',
      { method: 'POST', url: '/report', headers: json, payload: `"${'x'.repeat(200)}"` },
      'body_too_large',
      413,
    ],
    [
      'an unknown media type',
      { method: 'POST', url: '/report', headers: { 'content-type': 'text/plain' }, payload: 'x' },
      'unsupported_media_type',
      415,
    ],
    ['malformed JSON', { method: 'POST', url: '/report', headers: json, payload: '{"a":' }, 'malformed_json', 400],
    ['an empty body', { method: 'POST', url: '/report', headers: json, payload: '' }, 'malformed_json', 400],
    [
      'a poisoned prototype',
      { method: 'POST', url: '/report', headers: json, payload: '{"__proto__":{"a":1}}' },
      'malformed_json',
      400,
    ],
    ['something broken inside', { method: 'GET', url: '/break' }, 'internal', 500],
  ];
  it.each(cases)('%s', async (_what, request, code, status) => {
    const answer = await server().inject(request);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({ code, status, type: `urn:headway:problem:${code}` });
    expect(answer.statusCode).toBe(status);
    expect(answer.json().detail).not.toBe('');
    expect(answer.body).not.toContain('inner secret detail');
    expect(answer.body).not.toMatch(/at .*\.ts/);
  });

  it('also over a real connection: broken HTTP, and a request that does not arrive in time', async () => {
    const app = server({ requestTimeoutMs: 300 });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as { port: number };
    const say = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        let answer = '';
        socket.on('data', (chunk) => {
          answer += chunk;
        });
        socket.on('close', () => resolve(answer));
        socket.on('error', reject);
      });
    expect(await say('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400[\s\S]*"code":"malformed_request"/);
    const slow =
      'POST /report HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{';
    expect(await say(slow)).toMatch(/^HTTP\/1\.1 408[\s\S]*"code":"request_timeout"/);
  });

  it('gives each answer a request id', async () => {
    const app = server();
    const [first, second] = [await app.inject('/open'), await app.inject('/open')];
    expect(first.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
  });
});

describe('under which name and from which page', () => {
  const get = async (host: string) => (await server().inject({ url: '/open', headers: { host } })).statusCode;

  it.each([
    'localhost',
    'localhost:4680',
    '127.0.0.1:1',
    '[::1]:4680',
    'headway.example',
    'HEADWAY.example:9',
    'other.example:8443',
  ])('answers to %s', async (host) => expect(await get(host)).toBe(200));

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'other.example',
    'other.example:1',
    'headway.example@evil.example',
    'localhost:80 evil.example',
  ])('refuses %j', async (host) => {
    const answer = await server().inject({ url: '/read', headers: { host } });
    expect(answer.json()).toMatchObject({ code: 'host_not_allowed', status: 421 });
  });

  const post = async (headers: Record<string, string>) =>
    (await server().inject({ method: 'POST', url: '/report', headers: { ...json, ...headers }, payload: '{}' })).json();

  it('lets its own page and programs write', async () => {
    expect(await post({})).toEqual({ got: {} });
    expect(await post({ host: '127.0.0.1:4680', origin: 'http://127.0.0.1:4680' })).toEqual({ got: {} });
    expect(await post({ host: 'headway.example', origin: 'https://headway.example' })).toEqual({ got: {} });
  });

  it.each(['http://localhost:3000', 'https://evil.example', 'null', 'http://127.0.0.1:4680.evil.example'])(
    'refuses writing by a page of %s',
    async (origin) => {
      expect(await post({ host: '127.0.0.1:4680', origin })).toMatchObject({ code: 'origin_not_allowed', status: 403 });
    },
  );
});

describe('access', () => {
  it('decorates the request with tenant and roles', async () => {
    const app = server();
    expect((await app.inject('/read')).json()).toEqual({ tenant: 'default', roles: ['reporter', 'viewer'] });
    const headers = { ...operator, 'headway-tenant': 'acme' };
    expect((await app.inject({ url: '/read', headers })).json()).toEqual({ tenant: 'acme', roles: ['operator'] });
  });

  it('refuses without, with a wrong, and with too small a right', async () => {
    const app = server();
    const remote = await app.inject({ url: '/read', remoteAddress: '203.0.113.7' });
    expect(remote.statusCode).toBe(401);
    expect(remote.headers['www-authenticate']).toContain('Bearer');
    expect((await app.inject({ url: '/read', headers: { authorization: 'Bearer wrong' } })).statusCode).toBe(401);
    expect((await app.inject({ url: '/read', headers: { 'x-forwarded-for': '203.0.113.7' } })).statusCode).toBe(401);
    const operate = await app.inject({ method: 'POST', url: '/operate', headers: json, payload: '{}' });
    expect(operate.json()).toMatchObject({ code: 'forbidden' });
    const allowed = await app.inject({
      method: 'POST',
      url: '/operate',
      headers: { ...json, ...operator },
      payload: '{}',
    });
    expect(allowed.statusCode).toBe(200);
  });

  it('does not read the body of a caller it refuses', async () => {
    const answer = await server().inject({
      method: 'POST',
      url: '/report',
      remoteAddress: '203.0.113.7',
      headers: json,
      payload: 'x'.repeat(500),
    });
    expect(answer.statusCode).toBe(401);
  });

  it('does not let a route forget to say what it needs', () => {
    expect(() => server().get('/forgotten', async () => ({}))).toThrow('does not declare its act');
  });
});

describe('health', () => {
  it('is alive whatever is not ready, for any host and caller', async () => {
    const app = server({ checks: { log: () => ({ ready: false, reason: 'no server' }) } });
    const probe = { headers: { host: '10.0.0.1:8080' }, remoteAddress: '10.0.0.2' };
    expect((await app.inject({ url: '/healthz', ...probe })).statusCode).toBe(200);
    const ready = await app.inject({ url: '/readyz', ...probe });
    expect(ready.statusCode).toBe(503);
    expect(ready.json()).toEqual({
      service: 'test',
      version: VERSION,
      ready: false,
      checks: { log: { ready: false, reason: 'no server' } },
    });
  });

  it('is ready when every check is, and a check that throws or hangs is not', async () => {
    let result: () => CheckResult | Promise<CheckResult> = () => ({ ready: true, detail: { position: 7 } });
    const app = server({ checks: { log: () => result(), other: () => ({ ready: true }) } });
    expect((await app.inject('/readyz')).json()).toMatchObject({
      ready: true,
      checks: { log: { detail: { position: 7 } } },
    });
    result = () => {
      throw new Error('refused');
    };
    expect((await app.inject('/readyz')).json()).toMatchObject({
      ready: false,
      checks: { log: { reason: 'refused' } },
    });
    result = () => new Promise(() => {});
    expect((await app.inject('/readyz')).json()).toMatchObject({ checks: { log: { reason: 'no answer within 2 s' } } });
  });
});

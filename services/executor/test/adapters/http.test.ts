import type { LookupFunction } from 'node:net';
import { createServer } from 'node:net';
import { freePort } from '@headway/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpAdapter } from '../../src/adapters/http.ts';
import { addressRanges, mayDial } from '../../src/adapters/outgoing/addresses.ts';
import { httpTargets } from '../rig.ts';
import { type StandIn, startStandIn } from '../stand-in.ts';
import { describeAdapter } from './conformance.ts';

describeAdapter('http', { class: 'K', never: ['observer-down'], unobservable: true }, async () => {
  const standIn = await startStandIn();
  const deaf = `http://127.0.0.1:${await freePort()}`;
  const targets = httpTargets(standIn);
  const origins = [...targets.origins, ...targets.origins.map((target) => ({ ...target, origin: deaf }))];
  const adapter = createHttpAdapter({ ...targets, origins });
  let number = 0;
  let origin = standIn.origin;
  // The stand-in counts by key, which a request does not know; each body is another, so effects are told by it.
  const bodies = new Map<string, number>();
  const { prepare } = adapter;
  return {
    adapter: {
      ...adapter,
      send: async (attempt) => {
        const before = standIn.effects.get(attempt.operation) ?? 0;
        const answer = await adapter.send(attempt);
        const { body } = attempt.plan as { body: string };
        const now = standIn.effects.get(attempt.operation) ?? 0;
        bodies.set(body, Math.max(bodies.get(body) ?? 0, now, before));
        return answer;
      },
      observe: (attempt) => adapter.observe(attempt as never),
    } as typeof adapter as never,
    fresh: () => {
      number += 1;
      return { target: `${origin}/notes`, inputs: { json: { number } } };
    },
    effects: async (request) => {
      const prepared = prepare(request);
      return prepared.ok ? (bodies.get(prepared.value.plan.body ?? '') ?? 0) : 0;
    },
    malformed: [
      { request: { target: 'ftp://127.0.0.1/', inputs: {} }, pointer: '/target' },
      { request: { target: 'https://example.org/', inputs: {} }, pointer: '/target' },
      { request: { target: `${standIn.origin}/`, inputs: { method: 'GET' } }, pointer: '/inputs/method' },
      { request: { target: `${standIn.origin}/`, inputs: { headers: { host: 'x' } } }, pointer: '/inputs/headers' },
      { request: { target: `${standIn.origin}/`, inputs: { surprise: 1 } }, pointer: '/inputs' },
    ],
    faults: {
      unreachable: () => {
        origin = deaf;
      },
      'answer-lost': () => {
        standIn.faults = { cutAfterEffect: true };
      },
      silent: () => {
        standIn.faults = { silent: true };
      },
      refuses: () => {
        standIn.faults = { status: 422 };
      },
    },
    heal: () => {
      standIn.faults = {};
      origin = standIn.origin;
    },
    stop: () => standIn.stop(),
  };
});

describe('http, towards hostile targets', () => {
  let standIn: StandIn;
  afterEach(() => standIn.stop());

  async function send(more: { privateAddresses?: string[]; lookup?: LookupFunction; target?: string } = {}) {
    const targets = httpTargets(standIn);
    const target = more.target ?? `${standIn.origin}/`;
    const { privateAddresses = ['127.0.0.1'] } = more;
    const origins = [{ origin: new URL(target).origin, headers: {}, privateAddresses, limitsBeforeExecution: false }];
    const adapter = createHttpAdapter(
      { ...targets, origins },
      more.lookup === undefined ? {} : { lookup: more.lookup as never },
    );
    const prepared = adapter.prepare({ target, inputs: { json: {} } });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    return adapter.send({
      operation: 'a'.repeat(64),
      tenant: 'default',
      plan: prepared.value.plan,
      epoch: 1,
      attempt: 1,
      signal: AbortSignal.timeout(1_500),
    });
  }

  it('sends nothing to a private address that is not allowed', async () => {
    standIn = await startStandIn();
    expect(await send({ privateAddresses: [] })).toMatchObject({ answer: 'not-sent' });
    expect(standIn.requests).toBe(0);
  });

  it('sends nothing to a name that leads to a private address at dial time, whatever it led to before', async () => {
    standIn = await startStandIn();
    let asked = 0;
    const rebinding = ((_name, options, done) => {
      asked += 1;
      const address = asked === 1 ? '127.0.0.1' : '93.184.216.34';
      if (options.all === true) (done as any)(null, [{ address, family: 4 }]);
      else (done as any)(null, address, 4);
    }) as LookupFunction;
    const target = `http://rebinding.example:${new URL(standIn.origin).port}/`;
    const answer = await send({ privateAddresses: [], lookup: rebinding, target });
    expect(answer).toMatchObject({ answer: 'not-sent', reason: expect.stringContaining('may not be called') });
    expect([asked, standIn.requests]).toEqual([1, 0]);
  });

  it('is uncertain about a redirect, and does not follow it', async () => {
    standIn = await startStandIn();
    standIn.faults = { status: 307 };
    expect(await send()).toEqual({ answer: 'uncertain', reason: 'the target answered 307' });
    expect(standIn.requests).toBe(1);
  });

  it('is uncertain about a body that does not end in time', async () => {
    standIn = await startStandIn();
    standIn.faults = {
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"slow":');
      },
    };
    expect(await send()).toMatchObject({ answer: 'uncertain' });
  });

  it('reads no more of a body of 10 GiB than its limit, in flat memory', async () => {
    standIn = await startStandIn();
    let written = 0;
    let gone = false;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    standIn.faults = {
      answer: (request, response) => {
        response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) });
        request.socket.on('close', () => {
          gone = true;
        });
        const more = () => {
          while (!gone && response.write(chunk)) written += chunk.length;
          if (!gone) response.once('drain', more);
        };
        more();
      },
    };
    const before = process.memoryUsage().rss;
    expect(await send()).toMatchObject({ answer: 'uncertain', reason: expect.stringContaining('is above') });
    expect(written).toBeLessThan(64 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('is uncertain about a success whose body is not what it says it is', async () => {
    standIn = await startStandIn();
    standIn.faults = {
      answer: (_request, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    };
    expect(await send()).toEqual({ answer: 'uncertain', reason: 'the body of the answer cannot be read' });
  });

  it('is uncertain about an answer that is no HTTP', async () => {
    standIn = await startStandIn();
    const noise = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('SSH-2.0-nothing\r\n'));
    });
    await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve));
    const { port } = noise.address() as { port: number };
    expect(await send({ target: `http://127.0.0.1:${port}/` })).toMatchObject({ answer: 'uncertain' });
    noise.close();
  });

  it('sends nothing where TLS cannot be made', async () => {
    standIn = await startStandIn();
    expect(await send({ target: standIn.origin.replace('http:', 'https:') })).toMatchObject({ answer: 'not-sent' });
    expect(standIn.requests).toBe(0);
  });
});

describe('addresses', () => {
  const none = addressRanges([]);
  it.each([
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    'fd00::1',
    'fe80::1',
    'fe80::1%eth0',
    '2002:7f00:1::',
    '255.255.255.255',
    'not an address',
  ])('%s may not be dialled', (address) => expect(mayDial(address, none)).toBe(false));

  it.each(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34'])('%s may', (address) =>
    expect(mayDial(address, none)).toBe(true),
  );

  it('allows what an operator names', () => {
    expect(mayDial('10.1.2.3', addressRanges(['10.1.0.0/16']))).toBe(true);
    expect(mayDial('::ffff:10.1.2.3', addressRanges(['10.1.0.0/16']))).toBe(true);
    expect(mayDial('10.2.2.3', addressRanges(['10.1.0.0/16']))).toBe(false);
  });
});

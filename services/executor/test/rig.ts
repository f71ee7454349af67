import { randomUUID } from 'node:crypto';
import { tokenDigest } from '@headway/access';
import { connectPostgresClaims, migrateClaims } from '@headway/claims';
import type { EffectView } from '@headway/contracts';
import type { Adapter } from '@headway/effects';
import { createMemoryLog, createMemoryStreams, type EventLog } from '@headway/eventlog';
import { createLogger, pause } from '@headway/runtime';
import { startPostgres, type TestPostgres } from '@headway/testkit';
import type { FastifyInstance } from 'fastify';
import { createHttpAdapter } from '../src/adapters/http.ts';
import { createExecutor } from '../src/executor.ts';
import { migrateJournal } from '../src/journal/migrate.ts';
import { connectPostgresJournal } from '../src/journal/postgres-journal.ts';
import type { Journal } from '../src/ports.ts';
import type { HttpTargets } from '../src/targets.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

export const OPERATOR_TOKEN = 'operator-token-of-these-tests';

export const httpTargets = (standIn: StandIn, more: Partial<HttpTargets> = {}): HttpTargets => ({
  origins: [{ origin: standIn.origin, headers: {}, privateAddresses: ['127.0.0.1'], limitsBeforeExecution: false }],
  timeoutMs: 2_000,
  keyRetentionSeconds: 3_600,
  processingSeconds: 0,
  keyHeader: 'idempotency-key',
  ...more,
});

/** An executor in this process, on a real Postgres and a log in memory, with an HTTP target on loopback. */
export interface Rig {
  readonly app: FastifyInstance;
  readonly journal: Journal;
  readonly log: EventLog;
  readonly standIn: StandIn;
  readonly postgres: TestPostgres;
  readonly url: string;
  call(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: object,
    as?: Caller,
  ): Promise<{ status: number; body: any }>;
  /** Asks for an HTTP effect and waits until it rests. */
  ask(more?: object, as?: Caller): Promise<{ status: number; body: EffectView & { code?: string } }>;
  allowHttp(maximumPerHour?: number, as?: Caller): Promise<number>;
  stop(): Promise<void>;
}

export type Caller = { readonly operator?: boolean; readonly tenant?: string };

export interface RigOptions {
  readonly adapters?: (standIn: StandIn) => readonly Adapter[];
  readonly log?: EventLog;
  readonly targets?: Partial<HttpTargets>;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  await migrateClaims(url);
  await migrateJournal(url);
  const standIn = await startStandIn();
  const log = options.log ?? createMemoryLog({ streams: createMemoryStreams() });
  const journal = connectPostgresJournal({ url });
  const claims = connectPostgresClaims(url);
  const stopping = new AbortController();
  const { app, ended } = createExecutor({
    journal,
    claims,
    log,
    adapters: options.adapters?.(standIn) ?? [createHttpAdapter(httpTargets(standIn, options.targets))],
    holder: `executor/test/${randomUUID()}`,
    access: { operatorTokenSha256: tokenDigest(OPERATOR_TOKEN), loopbackOpen: true },
    publicHosts: [],
    logger: createLogger('executor'),
    pause,
    signal: stopping.signal,
    failpoints: null,
  });
  await app.ready();
  const call: Rig['call'] = async (method, path, body, as = {}) => {
    const response = await app.inject({
      method,
      url: path,
      headers: {
        host: '127.0.0.1',
        ...(as.operator === true ? { authorization: `Bearer ${OPERATOR_TOKEN}` } : {}),
        ...(as.tenant === undefined ? {} : { 'headway-tenant': as.tenant }),
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: response.statusCode, body: response.json() };
  };
  while ((await call('GET', '/readyz')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    app,
    journal,
    log,
    standIn,
    postgres,
    url,
    call,
    ask: (more = {}, as = {}) =>
      call(
        'POST',
        '/v1/effects?wait=20',
        {
          kind: 'http',
          target: `${standIn.origin}/notes`,
          key: randomUUID(),
          inputs: { json: { text: 'hello' } },
          ...more,
        },
        as,
      ),
    allowHttp: async (maximumPerHour = 10_000, as = {}) => {
      const policy = { kind: 'http', target: `${standIn.origin}/*`, maximumPerHour, by: 'Ada', reason: 'tests' };
      const { body } = await call('POST', '/v1/effects/policies', policy, { ...as, operator: true });
      return body.policy as number;
    },
    stop: async () => {
      stopping.abort();
      await ended;
      await app.close();
      await journal.close();
      await claims.close();
      await standIn.stop();
      await postgres.stop();
    },
  };
}

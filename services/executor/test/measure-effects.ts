/**
 * Guarded effects (claim, start, settle, publish) with a target that does nothing, against the floor of two bare statements
 * on the same Postgres in the same run: claim + start + outbox, then settle + outbox. One after the other and 32 at once.
 * Run it with Node: `node services/executor/test/measure-effects.ts [seconds]`. Prints one line of JSON.
 */
import { randomUUID } from 'node:crypto';
import { migrateClaims } from '@headway/claims';
import type { Adapter } from '@headway/effects';
import { createMemoryLog } from '@headway/eventlog';
import { createLogger, pause } from '@headway/runtime';
import { startPostgres } from '@headway/testkit';
import pg from 'pg';
import { migrateJournal } from '../src/journal/migrate.ts';
import { connectPostgresJournal } from '../src/journal/postgres-journal.ts';
import type { Intent } from '../src/ports.ts';
import { startRelay } from '../src/relay.ts';
import { createWorker } from '../src/worker.ts';

const seconds = Number(process.argv[2] ?? 5);
const ROUNDS = 3;
const AT_ONCE = [1, 32] as const;
/** Operations asked for beforehand, so that none of that is measured. */
const PREPARED_A_SECOND = 3_000;

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Runs `one` over and over, so many at once, for the time of a round. */
async function measure(atOnce: number, one: () => Promise<boolean>): Promise<Measured> {
  const took: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < until) {
        const at = performance.now();
        if (!(await one())) return;
        took.push(performance.now() - at);
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  took.sort((a, b) => a - b);
  const quantile = (q: number) => Number((took[Math.floor(took.length * q)] ?? 0).toFixed(2));
  return { perSecond: Math.round(took.length / elapsed), p50: quantile(0.5), p99: quantile(0.99) };
}

const FLOOR_TABLES = `create table floor_claim (resource text primary key, epoch bigint not null, lease_until timestamptz not null);
  create table floor_operation (operation text primary key, resource text not null, state text not null, epoch bigint, result jsonb, version int not null default 0);
  create table floor_outbox (operation text, version int, entry jsonb, primary key (operation, version));
  insert into floor_operation select 'o' || n, 'r' || n, 'ADMITTED' from generate_series(1, 200000) n`;

const FLOOR_START = `with c as (
    insert into floor_claim as f (resource, epoch, lease_until) values ($2, 1, clock_timestamp() + interval '30 seconds')
    on conflict (resource) do update set epoch = f.epoch + 1, lease_until = excluded.lease_until where f.lease_until < clock_timestamp()
    returning epoch), o as (
    update floor_operation p set state = 'STARTED', epoch = c.epoch, version = version + 1 from c where p.operation = $1 returning p.operation, p.version)
  insert into floor_outbox select operation, version, '{"type":"started"}' from o`;
const FLOOR_SETTLE = `with o as (
    update floor_operation set state = 'SUCCEEDED', result = '{"ok":true}', version = version + 1 where operation = $1 and state = 'STARTED' returning operation, version)
  insert into floor_outbox select operation, version, '{"type":"succeeded"}' from o`;

const nullAdapter: Adapter = {
  kind: 'null',
  class: 'K',
  timeoutMs: 30_000,
  processingMs: 0,
  retentionMs: 3_600_000,
  prepare: () => ({ ok: true, value: { plan: null, resource: null } }),
  send: async () => ({ answer: 'succeeded', result: { ok: true } }),
  observe: async () => ({ observed: 'unobservable' }),
  close: async () => {},
};

const postgres = await startPostgres({ own: true });
try {
  await migrateClaims(postgres.url);
  await migrateJournal(postgres.url);
  const pool = new pg.Pool({ connectionString: postgres.url, max: 32 });
  await pool.query(FLOOR_TABLES);
  const { rows } = await pool.query<{ synchronous_commit: string }>('show synchronous_commit');
  if (rows[0]?.synchronous_commit !== 'on') throw new Error('commits have to wait for the disk');
  const journal = connectPostgresJournal({ url: postgres.url, connections: 8 });
  const stopping = new AbortController();
  const relay = startRelay({
    outbox: journal.outbox,
    log: createMemoryLog(),
    failpoints: null,
    logger: createLogger('bench'),
    pause,
    signal: stopping.signal,
  });

  async function prepareOperations(count: number, prefix: string): Promise<Intent[]> {
    await journal.setAuthority('bench', {
      subject: prefix,
      verdict: 'True',
      observedAt: new Date().toISOString(),
      planRevision: null,
      approval: null,
      maximum: 1_000_000,
      fingerprints: {},
      by: 'bench',
    });
    const intents = Array.from({ length: count }, (_, n): Intent => {
      const operation = `${prefix}-${n}`;
      return {
        operation,
        tenant: 'bench',
        kind: 'null',
        target: 'nowhere',
        key: operation,
        generation: 1,
        digest: 'd',
        inputs: '{}',
        resource: operation,
        class: 'K',
        timeoutMs: nullAdapter.timeoutMs,
        processingMs: 0,
        retentionMs: 3_600_000,
        // A subject of its own each, as units of a campaign have; all under one would wait for each other's commit.
        authority: operation,
        planRevision: null,
        assumptions: {},
        by: null,
      };
    });
    // In one statement: what an operator's approval of a wave would do.
    await pool.query(
      `insert into effects.authority (tenant, subject, verdict, observed_at, maximum, written_by)
       select 'bench', s, 'True', now(), 1, 'bench' from unnest($1::text[]) s`,
      [intents.map(({ operation }) => operation)],
    );
    for (let at = 0; at < intents.length; at += 64)
      await Promise.all(intents.slice(at, at + 64).map((intent) => journal.request(intent)));
    return intents;
  }

  /** Resolves when all that was asked for stands in the log. */
  async function drained(): Promise<void> {
    for (;;) {
      const { rows: left } = await pool.query<{ n: string }>('select count(*) as n from effects.outbox');
      if (Number(left[0]?.n) === 0) return;
      relay.nudge();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function effects(atOnce: number, round: number): Promise<Measured & { published: number }> {
    const intents = await prepareOperations(seconds * (atOnce === 1 ? 900 : PREPARED_A_SECOND), `e${atOnce}-${round}`);
    await drained();
    await pool.query('vacuum analyze effects.operation');
    const worker = createWorker({
      journal,
      adapters: new Map([[nullAdapter.kind, nullAdapter]]),
      holder: randomUUID(),
      slots: atOnce,
      failpoints: null,
      logger: createLogger('bench'),
      pause,
      signal: stopping.signal,
      onChange: () => relay.nudge(),
    });
    const before = relay.state.published;
    let next = 0;
    const measured = await measure(atOnce, async () => {
      const intent = intents[next++];
      if (intent === undefined) return false;
      await worker.perform(intent);
      return true;
    });
    await drained();
    return { ...measured, published: relay.state.published - before };
  }

  let floored = 0;
  const floor = (atOnce: number) =>
    measure(atOnce, async () => {
      floored += 1;
      const n = floored;
      await pool.query({ name: 'start', text: FLOOR_START, values: [`o${n}`, `r${n}`] });
      await pool.query({ name: 'settle', text: FLOOR_SETTLE, values: [`o${n}`] });
      return true;
    });

  const results: object[] = [];
  for (const atOnce of AT_ONCE) {
    const rounds = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const bare = await floor(atOnce);
      const guarded = await effects(atOnce, round);
      rounds.push({ floor: bare, guarded, ratio: Number((guarded.perSecond / bare.perSecond).toFixed(2)) });
    }
    const ratios = rounds.map(({ ratio }) => ratio).sort((a, b) => a - b);
    results.push({ atOnce, ratio: ratios[Math.floor(ROUNDS / 2)], rounds });
  }
  stopping.abort();
  relay.nudge();
  await relay.ended;
  await journal.close();
  await pool.end();
  console.log(JSON.stringify({ bench: 'effects', postgres: postgres.version, seconds, results }));
} finally {
  await postgres.stop();
}

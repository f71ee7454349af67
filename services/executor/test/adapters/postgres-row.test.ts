import type { AdapterRequest } from '@headway/effects';
import { freePort, startPostgres } from '@headway/testkit';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createPostgresRowAdapter } from '../../src/adapters/postgres-row.ts';
import { startCuttingProxy } from '../cutting-proxy.ts';
import { describeAdapter } from './conformance.ts';

const TABLE = `create table notes (id text primary key, body text not null, writes integer not null default 1, operation text);
  create function count_write() returns trigger language plpgsql as $$ begin
    new.writes := case when tg_op = 'UPDATE' then old.writes + 1 else 1 end; return new; end $$;
  create trigger counted before insert or update on notes for each row execute function count_write()`;

async function startTable() {
  const postgres = await startPostgres();
  const url = new URL(await postgres.createDatabase());
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(TABLE);
  const proxy = await startCuttingProxy(Number(url.port));
  const through = (port: number) => Object.assign(new URL(url.href), { port: String(port) }).href;
  const database = (name: string, port: number, operationColumn?: string) => ({
    name,
    url: through(port),
    tables: { 'public.notes': operationColumn === undefined ? {} : { operationColumn } },
  });
  const adapter = createPostgresRowAdapter({
    databases: [
      database('main', proxy.port, 'operation'),
      database('plain', proxy.port),
      database('deaf', await freePort(), 'operation'),
    ],
    timeoutMs: 3_000,
  });
  const stop = async () => {
    await admin.end();
    await proxy.close();
    await postgres.stop();
  };
  return { adapter, admin, proxy, stop };
}

const idOf = (request: AdapterRequest) => (request.inputs as { key: { id: string } }).key.id;

for (const write of ['insert', 'update'] as const)
  describeAdapter(`postgres.row ${write}`, { class: 'C' }, async () => {
    const { adapter, admin, proxy, stop } = await startTable();
    let number = 0;
    let database = 'main';
    let column = 'body';
    await admin.query(`insert into notes (id, body) select 'update ' || n, 'old' from generate_series(1, 50) n`);
    return {
      adapter: adapter as never,
      fresh: () => {
        number += 1;
        const inputs = { write, key: { id: `${write} ${number}` }, set: { [column]: column === 'body' ? 'new' : 1 } };
        return {
          target: `${database}/public.notes`,
          inputs: write === 'update' ? { ...inputs, expect: { body: 'old' } } : inputs,
        };
      },
      // The row counts its own writes; an update finds it written once.
      effects: async (request) => {
        const { rows } = await admin.query('select writes from notes where id = $1', [idOf(request)]);
        return Number(rows[0]?.writes ?? 0) - (write === 'update' ? 1 : 0);
      },
      malformed: [
        { request: { target: 'main/public.secrets', inputs: {} }, pointer: '/target' },
        { request: { target: 'other/public.notes', inputs: {} }, pointer: '/target' },
        { request: { target: 'main/public.notes', inputs: { write: 'drop' } }, pointer: '/inputs/write' },
        {
          request: {
            target: 'main/public.notes',
            inputs: { write, key: {}, set: { body: 'x' }, expect: { body: 'y' } },
          },
          pointer: '/inputs/key',
        },
        {
          request: {
            target: 'main/public.notes',
            inputs: { write: 'insert', key: { id: 'x' }, set: { operation: 'forged' } },
          },
          pointer: '/inputs/set',
        },
      ],
      faults: {
        unreachable: () => {
          database = 'deaf';
        },
        'answer-lost': () => {
          proxy.loseAnswersAfter = write;
        },
        silent: () => {
          proxy.loseAnswersAfter = write;
          proxy.swallow = true;
        },
        refuses: () => {
          column = 'no_such_column';
        },
        'observer-down': () => {
          proxy.loseAnswersAfter = 'select';
        },
      },
      heal: () => {
        proxy.loseAnswersAfter = null;
        proxy.swallow = false;
        database = 'main';
        column = 'body';
      },
      stop,
    };
  });

describe('postgres.row, where others write too', () => {
  it('does not take a row of another for its own, nor writes over it', async () => {
    const { adapter, admin, stop } = await startTable();
    await admin.query(`insert into notes (id, body, operation) values ('taken', 'new', 'another')`);
    const prepared = adapter.prepare({
      target: 'main/public.notes',
      inputs: { write: 'insert', key: { id: 'taken' }, set: { body: 'new' } },
    });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const signal = AbortSignal.timeout(3_000);
    const attempt = { operation: 'f'.repeat(64), tenant: 'default', plan, epoch: 1, attempt: 1, signal };
    expect(await adapter.send(attempt)).toMatchObject({ answer: 'uncertain' });
    expect(await adapter.observe(attempt)).toMatchObject({ observed: 'unknown' });
    await stop();
  });

  it('takes hostile names for names', async () => {
    const { adapter, admin, stop } = await startTable();
    const prepared = adapter.prepare({
      target: 'main/public.notes',
      inputs: { write: 'insert', key: { id: 'x' }, set: { 'body") values (1); drop table notes; --': 'x' } },
    });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const signal = AbortSignal.timeout(3_000);
    const sent = await adapter.send({
      operation: 'e'.repeat(64),
      tenant: 'default',
      plan,
      epoch: 1,
      attempt: 1,
      signal,
    });
    expect(sent.answer).toBe('refused');
    expect((await admin.query('select count(*) from notes')).rows).toEqual([{ count: '0' }]);
    await stop();
  });
});

import { type Adapter, type Attempt, answerOfBroken, type SendAnswer } from '@headway/effects';
import { ok, refused } from '@headway/kernel';
import pg from 'pg';
import { z } from 'zod';
import type { PostgresTargets } from '../targets.ts';
import { readInputs } from './read-inputs.ts';

const columns = z
  .record(z.string().min(1).max(63), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .refine((all) => Object.keys(all).length > 0 && Object.keys(all).length <= 100, 'has to name 1 to 100 columns');

const inputsSchema = z.discriminatedUnion('write', [
  /** Creates the row; where it is there already nothing happens. */
  z.strictObject({ write: z.literal('insert'), key: columns, set: columns }),
  /** Changes the row where it is as expected, and only there. */
  z.strictObject({ write: z.literal('update'), key: columns, set: columns, expect: columns }),
]);

export type RowPlan = z.output<typeof inputsSchema> & { readonly database: string; readonly table: string };

type Database = PostgresTargets['databases'][number];

/**
 * `postgres.row`, class C: one statement that writes one row where a condition holds that was fixed when the effect was
 * asked for. The target is `<database>/<schema>.<table>` of those that an operator lists. A repeat finds the condition gone.
 */
export function createPostgresRowAdapter(targets: PostgresTargets): Adapter<RowPlan> {
  const databases = new Map(targets.databases.map((database) => [database.name, database]));
  const { timeoutMs } = targets;

  return {
    kind: 'postgres.row',
    class: 'C',
    timeoutMs,
    // The server ends the statement by itself; until then it may run on without us.
    processingMs: timeoutMs,
    retentionMs: null,
    prepare({ target, inputs }) {
      const [name = '', table = ''] = target.split('/', 2);
      const database = databases.get(name);
      if (database === undefined || !Object.hasOwn(database.tables, table) || target !== `${name}/${table}`)
        return refused({
          detail: 'The target has to be <database>/<schema>.<table> of the targets file.',
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      const own = database.tables[table]?.operationColumn;
      const { key, set } = read.value;
      const twice = Object.keys(set).find((column) => Object.hasOwn(key, column) || column === own);
      if (twice !== undefined)
        return refused({ detail: `The column ${twice} is set by the key, or by Headway.`, pointer: '/inputs/set' });
      const plan = { ...read.value, database: name, table };
      return ok({ plan, resource: `${target} ${JSON.stringify(Object.entries(key).sort())}`.slice(0, 1_024) });
    },
    send: (attempt) => write(databases.get(attempt.plan.database), attempt, timeoutMs),
    observe: async (attempt) => {
      const database = databases.get(attempt.plan.database);
      if (database === undefined) return { observed: 'unknown', reason: 'the database is not listed any more' };
      try {
        return await observe(database, attempt, timeoutMs);
      } catch (error) {
        return { observed: 'unknown', reason: reasonOf(error) };
      }
    },
    close: async () => {},
  };
}

const name = (column: string) => pg.escapeIdentifier(column);
const tableName = (table: string) => table.split('.').map(name).join('.');
const list = (all: readonly string[], prefix = '') => all.map((column) => prefix + name(column)).join(', ');
/** Values as the table's own types, from JSON. */
const record = (table: string, parameter: string) =>
  `jsonb_populate_record(null::${tableName(table)}, ${parameter}::jsonb)`;
const same = (all: readonly string[], other: string) =>
  all.map((column) => `t.${name(column)} is not distinct from ${other}.${name(column)}`).join(' and ');

/** What is written beside what was asked for: which operation wrote it, where the table has a column for that. */
function written(database: Database, { plan, operation }: Attempt<RowPlan>): Record<string, unknown> {
  const column = database.tables[plan.table]?.operationColumn;
  return { ...plan.key, ...plan.set, ...(column === undefined ? {} : { [column]: operation }) };
}

async function write(
  database: Database | undefined,
  attempt: Attempt<RowPlan>,
  timeoutMs: number,
): Promise<SendAnswer> {
  if (database === undefined) return { answer: 'not-sent', reason: 'the database is not listed any more' };
  const { plan, signal } = attempt;
  const client = clientOf(database, timeoutMs, signal);
  try {
    await client.connect();
  } catch (error) {
    await client.end();
    return answerOfBroken('connect', reasonOf(error));
  }
  const values = written(database, attempt);
  const all = Object.keys(values);
  const shown = Object.keys({ ...plan.key, ...plan.set });
  const t = tableName(plan.table);
  try {
    const { rows } =
      plan.write === 'insert'
        ? await client.query(
            `insert into ${t} as t (${list(all)}) select ${list(all)} from ${record(plan.table, '$1')}
             on conflict do nothing returning ${list(shown, 't.')}`,
            [JSON.stringify(values)],
          )
        : await client.query(
            `update ${t} as t set ${all.map((column) => `${name(column)} = n.${name(column)}`).join(', ')}
             from ${record(plan.table, '$1')} n, ${record(plan.table, '$2')} e
             where ${same(Object.keys(plan.key), 'n')} and ${same(Object.keys(plan.expect), 'e')}
             returning ${list(shown, 't.')}`,
            [JSON.stringify(values), JSON.stringify(plan.expect)],
          );
    if (rows.length === 1) return { answer: 'succeeded', result: { row: JSON.parse(JSON.stringify(rows[0])) } };
    if (rows.length > 1)
      return { answer: 'uncertain', reason: `the key names ${rows.length} rows, and all were written` };
    return plan.write === 'insert'
      ? { answer: 'uncertain', reason: 'a row with this key is there already' }
      : { answer: 'refused', reason: 'no row with this key is as expected' };
  } catch (error) {
    return answerOfError(error);
  } finally {
    await client.end();
  }
}

/** Whole classes of SQLSTATE by which the server says that the statement was undone: bad data, broken rules, no right to it. */
const UNDONE = /^(22|23|28|42)/;
const UNIQUE_VIOLATION = '23505';

function answerOfError(error: unknown): SendAnswer {
  const { code } = error as { code?: string };
  const reason = reasonOf(error);
  return code !== undefined && UNDONE.test(code) && code.length === 5 && code !== UNIQUE_VIOLATION
    ? { answer: 'refused', reason }
    : { answer: 'uncertain', reason };
}

async function observe(database: Database, attempt: Attempt<RowPlan>, timeoutMs: number) {
  const { plan, signal } = attempt;
  const client = clientOf(database, timeoutMs, signal);
  await client.connect();
  try {
    const shown = Object.keys({ ...plan.key, ...plan.set });
    const values = written(database, attempt);
    const expected = plan.write === 'update' ? plan.expect : {};
    const found = await client.query(
      `select ${list(shown, 't.')}, (${same(Object.keys(values), 'n')}) as ours,
         (${Object.keys(expected).length === 0 ? 'false' : same(Object.keys(expected), 'e')}) as expected
       from ${tableName(plan.table)} t, ${record(plan.table, '$1')} n, ${record(plan.table, '$2')} e
       where ${same(Object.keys(plan.key), 'n')} limit 2`,
      [JSON.stringify(values), JSON.stringify(expected)],
    );
    const [row, another] = found.rows as ({ ours: boolean; expected: boolean } & Record<string, unknown>)[];
    if (another !== undefined) return { observed: 'unknown', reason: 'the key names more than one row' } as const;
    if (row === undefined)
      return plan.write === 'insert'
        ? ({ observed: 'absent', detail: 'there is no such row' } as const)
        : ({ observed: 'unknown', reason: 'the row is gone' } as const);
    const { ours, expected: asBefore, ...shownRow } = row;
    if (ours) return { observed: 'present', result: { row: JSON.parse(JSON.stringify(shownRow)) } } as const;
    if (asBefore) return { observed: 'absent', detail: 'the row is as it was before' } as const;
    return { observed: 'unknown', reason: 'the row was written by another, before or after' } as const;
  } finally {
    await client.end();
  }
}

/** A connection of this attempt alone. Its socket is destroyed when the time is over. */
function clientOf(database: Database, timeoutMs: number, signal: AbortSignal): pg.Client {
  const client = new pg.Client({
    connectionString: database.url,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    application_name: 'headway effect',
  });
  client.on('error', () => {});
  const destroy = () =>
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  if (signal.aborted) destroy();
  else signal.addEventListener('abort', destroy, { once: true });
  return client;
}

const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string };
  return [code, message].filter((part) => part !== undefined && part !== '').join(' ') || 'the connection broke';
};

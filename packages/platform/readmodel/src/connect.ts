import { Socket } from 'node:net';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import { CopyingClient } from './copy.ts';
import type { Database } from './tables.ts';

/** A statement that runs longer is cancelled, so that nothing waits for ever behind it. Milliseconds. */
export const STATEMENT_TIMEOUT = 30_000;
/**
 * A transaction whose process says nothing for so long is ended by the server, and its locks with it: the process stands
 * still or is gone without a word, and others wait for what it holds. Milliseconds.
 */
export const IDLE_IN_TRANSACTION = 5_000;
/** How long a new connection may take. Milliseconds. */
export const CONNECT_TIMEOUT = 5_000;

/**
 * A connection on which nothing moves for so long while it is in use is given up: longer than any statement may run, so
 * nobody is at the other end any more, and the system itself would notice only after minutes. Milliseconds.
 */
export const SILENCE = STATEMENT_TIMEOUT + 10_000;
/** For statements that take their time: making the indexes of a large table, above all. Milliseconds. */
export const PATIENT_TIMEOUT = 3_600_000;
/** On a connection without a limit of silence the system itself asks so soon whether anybody is there. Milliseconds. */
const PROBE_AFTER = 10_000;

const INT8 = 20;

export interface Connecting {
  readonly url: string;
  /** Most connections at once. */
  readonly connections: number;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** {@link SILENCE} unless told. */
  readonly silenceMs?: number;
  /** Statements may take {@link PATIENT_TIMEOUT}, and be silent all that time; for work that waits for nobody. */
  readonly patient?: boolean;
}

/** Sequences and changes stay far below 2^53, so that `bigint` columns are read as numbers. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** A pool that outlives the loss of its connections: the next statement opens a new one. */
export function openPool({ url, connections, name, silenceMs = SILENCE, patient = false }: Connecting): pg.Pool {
  const pool = new pg.Pool({
    Client: CopyingClient,
    connectionString: url,
    max: connections,
    application_name: name,
    statement_timeout: patient ? PATIENT_TIMEOUT : STATEMENT_TIMEOUT,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER,
    stream: () => {
      const socket = new Socket();
      const giveUp = () => socket.destroy(new Error(`Connection terminated: no answer within ${silenceMs} ms`));
      return patient ? socket : socket.setTimeout(silenceMs, giveUp);
    },
  });
  // An idle connection that breaks is told here and nowhere else; unheard, it would end the process.
  pool.on('error', () => undefined);
  // The same for one that breaks while it is lent out, between two statements of a transaction: the next of them fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

export const connect = (options: Connecting): Kysely<Database> => over(openPool(options));

export const over = (pool: PostgresPool): Kysely<Database> =>
  new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }).withSchema('headway');

/** SQLSTATE classes that speak of the data, not of the server: too large, malformed, twice in one statement. */
const DATA_ERRORS = /^(21|22|23|54)/;

/** Whether Postgres refused the data of a statement, so that trying it again as it is can never succeed. */
export const isDataRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code !== undefined && DATA_ERRORS.test(error.code);

/** What the operating system and the driver say when there is nobody at the other end. */
const CONNECTION_ERRORS = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENOENT)$/;
const CONNECTION_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection/i;
/**
 * SQLSTATE classes for a connection that broke, a server that is full, and one that is starting or going down; and the
 * code of a transaction that was ended because its process stood still.
 */
const SERVER_ERRORS = /^(08|53|57|25P03)/;

/** Whether an error says that Postgres cannot be reached at the moment, rather than that something is wrong. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof pg.DatabaseError) return SERVER_ERRORS.test(code);
  return CONNECTION_ERRORS.test(code) || CONNECTION_MESSAGES.test(error.message);
}

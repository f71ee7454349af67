import { createMemoryLog, createMemoryStreams, type EventLog, type NewMessage } from '@headway/eventlog';
import { migrate, openPool, openReadModel, type ReadModel, type Rebuilds } from '@headway/readmodel';
import { createLogger, type Logger } from '@headway/runtime';
import { eventually, startPostgres, type TestPostgres } from '@headway/testkit';
import { createChangeWatch } from '../src/change-watch.ts';
import type { Decode } from '../src/decode.ts';
import { type Projecting, project } from '../src/projection.ts';

/** A projection over a log in memory and a Postgres of its own. */
export interface Rig {
  readonly server: TestPostgres;
  readonly url: string;
  readonly model: ReadModel;
  readonly streams: ReturnType<typeof createMemoryStreams>;
  readonly log: EventLog;
  readonly watch: ReturnType<typeof createChangeWatch>;
  readonly logger: Logger;
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** As `sql`, of a statement that may take minutes. */
  unhurried<Row extends object>(text: string): Promise<Row[]>;
  /** Appends, and answers with the last sequence. */
  say(...messages: NewMessage[]): Promise<number>;
  /** Runs the projection until both streams are projected to their ends, then goes on. */
  project(decode?: Decode): Projecting;
  /** Ends what `project` began; another version of the code may go on. */
  endProjecting(): Promise<void>;
  settled(within?: number): Promise<void>;
  /** Ends as `stop` does, and leaves the database as it is: for another rig. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a statement over a million rows may say nothing. Milliseconds. */
const UNHURRIED = 900_000;

/** Migrated databases that a rig has left empty, by server: making one takes longer than most tests. */
const spare = new WeakMap<TestPostgres, string[]>();

async function emptyDatabase(server: TestPostgres): Promise<string> {
  const left = spare.get(server)?.pop();
  if (left !== undefined) return left;
  const url = await server.createDatabase();
  await migrate(url);
  return url;
}

/** A second database with what one holds, to which nobody is connected. */
export async function copyDatabase(server: TestPostgres, url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const pool = openPool({ url: server.url, connections: 1, name: 'copy', silenceMs: UNHURRIED });
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query(`create database ${name}_copy template ${name}`);
  } finally {
    client.release(true);
    await pool.end();
  }
  const copy = new URL(url);
  copy.pathname = `/${name}_copy`;
  return copy.href;
}

/** Empties every table; faster than truncation where there are few rows. */
export const emptyTables = ({ sql }: Pick<Rig, 'sql'>) =>
  sql(
    [
      'positions',
      'archive',
      'identities',
      'dead_letters',
      'holds',
      'waiting',
      'rebuilds',
      'works',
      'timeline',
      'signals',
      'signal_members',
      'signal_coverage',
      'signal_recipients',
      'usage_spans',
      'policies',
    ]
      .map((table) => `delete from headway.${table}`)
      .concat('update headway.projections set generation = 1')
      .join(';'),
  );

export async function startRig(
  server?: TestPostgres,
  options: {
    model?: (url: string) => ReadModel;
    /** One that exists already: its owner closes it. */
    log?: EventLog;
    /** A migrated database that exists already; an empty one unless told. */
    url?: string;
    rebuilds?: (inner: Rebuilds) => Rebuilds;
  } = {},
): Promise<Rig> {
  const own = server ?? (await startPostgres());
  const url = options.url ?? (await emptyDatabase(own));
  const model = (options.model ?? ((at) => openReadModel({ url: at })))(url);
  const reader = openPool({ url, connections: 2, name: 'test', silenceMs: UNHURRIED });
  const streams = createMemoryStreams();
  const log = options.log ?? createMemoryLog({ streams });
  const watch = createChangeWatch();
  const logger = createLogger('test');
  logger.level = 'silent';
  let stopping = new AbortController();
  const running: Projecting[] = [];
  const sql = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await reader.query<Row>(text, values)).rows;
  return {
    server: own,
    url,
    model,
    streams,
    log,
    watch,
    logger,
    sql,
    async unhurried<Row extends object>(text: string) {
      const client = await reader.connect();
      try {
        await client.query('set statement_timeout = 0');
        return (await client.query<Row>(text)).rows;
      } finally {
        client.release(true);
      }
    },
    async say(...messages) {
      let sequence = 0;
      for (const message of messages) {
        const appended = await log.append(message);
        if (appended.outcome !== 'appended') throw new Error(`not appended: ${appended.outcome}`);
        sequence = appended.position.sequence;
      }
      return sequence;
    },
    project(decode) {
      const projecting = project({
        ports: {
          log,
          writer: model.writer,
          views: model.views,
          rebuilds: options.rebuilds?.(model.rebuilds) ?? model.rebuilds,
          ping: model.ping,
        },
        watch,
        logger,
        signal: stopping.signal,
        ...(decode === undefined ? {} : { decode }),
      });
      running.push(projecting);
      return projecting;
    },
    async endProjecting() {
      stopping.abort();
      await Promise.all(running.splice(0).map(({ ended }) => ended));
      stopping = new AbortController();
    },
    async settled(within = 20_000) {
      await eventually(
        async () => {
          for (const stream of ['EVIDENCE', 'RECORD', 'ACTS', 'EFFECTS'] as const) {
            const { lastSequence, generation } = await log.describe(stream);
            const at = await sql<{ sequence: string; generation: number }>(
              `select sequence, generation from headway.positions where reader = 'projection' and stream = $1`,
              [stream],
            );
            const sequence = at[0]?.generation === generation ? Number(at[0].sequence) : 0;
            if (sequence !== lastSequence) return false;
          }
          return true;
        },
        { what: 'projection of everything', within },
      );
    },
    async leave() {
      stopping.abort();
      await Promise.all(running.map(({ ended }) => ended));
      if (options.log === undefined) await log.close();
      await model.close();
      await reader.end();
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.map(({ ended }) => ended));
      if (options.log === undefined) await log.close();
      await model.close();
      await emptyTables({ sql });
      spare.set(own, [...(spare.get(own) ?? []), url]);
      await reader.end();
      if (server === undefined) await own.stop();
    },
  };
}

/** Everything that a projection has written, without what differs between two runs over the same log. */
export async function contents({ sql }: Pick<Rig, 'sql'>): Promise<unknown> {
  const tables = {
    works: 'select * from headway.works order by tenant, work',
    timeline: 'select * from headway.timeline order by tenant, work, entry',
    signals: 'select * from headway.signals order by tenant, signal',
    members: 'select * from headway.signal_members order by tenant, signal, work',
    coverage: 'select * from headway.signal_coverage order by tenant',
    recipients: 'select * from headway.signal_recipients order by tenant, recipient, signal',
    usage: 'select * from headway.usage_spans order by tenant, work, started_at, ended_at',
    policies: 'select * from headway.policies order by tenant, version',
    identities: 'select * from headway.identities order by generation, sequence, work',
    archive: 'select * from headway.archive order by stream, generation, sequence',
    letters: 'select * from headway.dead_letters order by reader, stream, generation, sequence',
    holds: 'select * from headway.holds order by aggregate',
    waiting: 'select * from headway.waiting order by aggregate, stream, generation, sequence',
    positions: 'select reader, stream, generation, sequence from headway.positions order by reader, stream',
  };
  const all: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(tables)) {
    const rows = await sql<Record<string, unknown>>(text);
    all[name] = rows.map(({ change: _change, entry: _entry, ...row }) => row);
  }
  return all;
}

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUS_USERS } from '@headway/bus-users';
import { DATABASE_ROLES } from '@headway/database-roles';
import { secretFile } from './data-folder.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { logFile } from './logs.ts';
import { canSyncAlways, natsVersion, startNats } from './nats.ts';
import { DATABASE, ensureCluster, POSTGRES_USER, startPostgres } from './postgres.ts';
import { postgresPlace } from './postgres-place.ts';
import { askNats, postgresTakesSessions } from './probe.ts';
import type { Supervision } from './supervision.ts';
import { StartError } from './terminal.ts';
import { until } from './waiting.ts';

const NATS_READY_MS = 30_000;
const ROLES = DATABASE_ROLES.map(({ name }) => name);
/** After a crash Postgres first replays what it had written. */
const POSTGRES_READY_MS = 120_000;

export interface Server {
  /** For people: without user or password. */
  readonly url: string;
  /** With what one user gets in; one who is no user may do what anybody may. */
  readonly urlOf: (user: string) => string;
  /** The passwords that this server's users get, where it is of our making. */
  readonly passwords: ReadonlyMap<string, string>;
  /** What the person should know about it, for the ready message. */
  readonly notes: readonly string[];
}

/** A server that all get into in the same way. */
const sameForAll = (url: string): Server => ({ url, urlOf: () => url, passwords: new Map(), notes: [] });

/** The password of each user: made once, each in a file that only its owner can read. */
function keptPasswords(folder: string, users: readonly string[]): ReadonlyMap<string, string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return new Map(users.map((user) => [user, readFileSync(secretFile(join(folder, user)), 'utf8').trim()]));
}

/** Waits for a server's answer, unless it gives up or takes too long. */
async function answerOf<Answer>(
  kept: Kept,
  ask: () => Promise<Answer | undefined>,
  deadlineMs: number,
  stopping: AbortSignal,
): Promise<Answer> {
  const answer = await Promise.race([until(ask, deadlineMs, stopping), kept.gaveUp]);
  stopping.throwIfAborted();
  if (answer !== undefined) {
    kept.started();
    return answer;
  }
  const end = kept.log.lastLines();
  throw new StartError(
    `${kept.name} did not answer within ${deadlineMs / 1000} s. The end of ${kept.log.path}:\n${end}`,
  );
}

/** Starts nats-server on a port of its own and waits until it answers; or uses the one named in the settings. */
export async function provideNats(context: Supervision, keep: (kept: Kept) => void): Promise<Server> {
  const { settings, data, ports, record, terminal } = context;
  if (settings.natsUrl !== undefined) return sameForAll(settings.natsUrl);
  const binary = settings.natsServer ?? 'nats-server';
  const syncAlways = canSyncAlways(natsVersion(binary));
  const serverName = `headway-${randomUUID()}`;
  const folder = join(data.path, 'nats');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const passwords = keptPasswords(join(data.path, 'nats-passwords'), BUS_USERS);
  let port = 0;
  let ready = false;
  const kept = keepRunning({
    name: 'nats-server',
    log: logFile(data.logs, 'nats-server'),
    record,
    terminal,
    showWarnings: false,
    launch: async () => {
      // Once clients know the port it stays; until then another program may have taken it since it was chosen.
      if (!ready) port = await ports.choose('nats');
      return startNats(binary, folder, { port, serverName, syncAlways, passwords });
    },
  });
  keep(kept);
  const ask = async () => {
    const info = port === 0 ? undefined : await askNats(port);
    return info?.serverName === serverName && info.jetstream ? info : undefined;
  };
  const { version } = await answerOf(kept, ask, NATS_READY_MS, context.stopping);
  ready = true;
  const durability = syncAlways
    ? 'writes to disk before it acknowledges (sync_interval: always)'
    : 'writes to disk every two minutes: this version cannot do so before each acknowledgement, 2.10 and newer can';
  return {
    url: `nats://127.0.0.1:${port}`,
    urlOf: (user) => {
      const password = passwords.get(user);
      return `nats://${password === undefined ? '' : `${user}:${password}@`}127.0.0.1:${port}`;
    },
    passwords,
    notes: [`nats-server ${version} ${durability}`],
  };
}

/** Starts Postgres on a port of its own, with a cluster made on the first start; or uses the one named in the settings. */
export async function providePostgres(context: Supervision, keep: (kept: Kept) => void): Promise<Server> {
  const { settings, data, ports, record, terminal } = context;
  if (settings.postgresUrl !== undefined) return sameForAll(settings.postgresUrl);
  const home = settings.postgresHome ?? '';
  const secret = join(data.path, 'postgres-password');
  const isNew = !existsSync(secret);
  const place = postgresPlace(data.path, isNew);
  const password = readFileSync(secretFile(secret), 'utf8').trim();
  const log = logFile(data.logs, 'postgres');
  if (!existsSync(join(place.folder, 'cluster'))) terminal.say("making Postgres' data folder (first start only)");
  const cluster = await ensureCluster(home, place, password, log, context);
  context.stopping.throwIfAborted();
  let port = 0;
  let ready = false;
  const kept = keepRunning({
    name: 'postgres',
    log,
    record,
    terminal,
    showWarnings: false,
    launch: async () => {
      if (!ready) port = await ports.choose('postgres');
      return startPostgres(home, place, cluster, port);
    },
  });
  keep(kept);
  const ask = async () => (port !== 0 && kept.running() ? postgresTakesSessions(port, POSTGRES_USER) : undefined);
  await answerOf(kept, ask, POSTGRES_READY_MS, context.stopping);
  ready = true;
  const passwords = keptPasswords(join(data.path, 'postgres-passwords'), ROLES);
  const urlOf = (user: string): string => {
    const own = passwords.get(user);
    return `postgres://${own === undefined ? `${POSTGRES_USER}:${password}` : `${user}:${own}`}@127.0.0.1:${port}/${DATABASE}`;
  };
  return { url: `postgres://127.0.0.1:${port}/${DATABASE}`, urlOf, passwords, notes: place.notes };
}

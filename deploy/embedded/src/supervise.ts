import { join } from 'node:path';
import { ADMIN_USER } from '@headway/bus-users';
import { passwordVariable } from '@headway/database-roles';
import { ListenError, type Origin, openOrigin, type Routes } from '@headway/gateway';
import { dataFolder } from './data-folder.ts';
import { runJob } from './jobs.ts';
import type { Kept } from './keep-running.ts';
import { processRecord } from './leftovers.ts';
import { lockFolder } from './lock.ts';
import { rememberedPorts } from './ports.ts';
import type { Job, Service } from './programs.ts';
import { readyMessage } from './ready.ts';
import { provideNats, providePostgres } from './servers.ts';
import { type KeptService, keepService, serviceReady } from './services.ts';
import type { Settings } from './settings.ts';
import type { Supervision } from './supervision.ts';
import { StartError, type Terminal } from './terminal.ts';

export interface Programs {
  readonly jobs: readonly Job[];
  readonly services: readonly Service[];
  readonly routes: Routes;
}

export interface Supervisor {
  /** Settles once everything it started is gone; rejects with what made the start fail. */
  readonly done: Promise<void>;
  /** Asks for the end: services first, then Postgres, then NATS. */
  stop(): void;
  /** Ends everything without waiting for anybody. */
  kill(): void;
}

/** Starts everything in order and keeps it running until it is asked to stop. */
export function supervise(settings: Settings, programs: Programs, terminal: Terminal): Supervisor {
  const stopping = new AbortController();
  const parts: Parts = { services: [], postgres: undefined, nats: undefined, origin: undefined };
  const everything = (): Kept[] => [...parts.services, parts.postgres, parts.nats].filter((kept) => kept !== undefined);

  async function run(): Promise<void> {
    const data = dataFolder(settings.dataFolder);
    const lock = await lockFolder(data.path, data.describeHolder);
    try {
      const record = processRecord(data.path);
      const ports = rememberedPorts(data.path);
      const context = { settings, data, record, ports, terminal, stopping: stopping.signal };
      const killed = await record.clear();
      if (killed.length > 0) terminal.say(`killed what an earlier run had left: ${killed.join(', ')}`);
      await start(context, programs, parts);
      await aborted(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    } finally {
      stopping.abort();
      await stopInOrder(parts, terminal);
      data.withdraw();
      await lock.release();
    }
  }

  return {
    done: run(),
    stop: () => {
      if (!stopping.signal.aborted) terminal.say('stopping (once more kills what is slow)');
      stopping.abort();
    },
    kill: () => {
      for (const kept of everything()) kept.kill();
    },
  };
}

interface Parts {
  services: KeptService[];
  postgres: Kept | undefined;
  nats: Kept | undefined;
  origin: Origin | undefined;
}

async function start(context: Supervision, programs: Programs, parts: Parts): Promise<void> {
  const { settings, data, terminal, stopping } = context;
  const portOf = (name: string): number | undefined => parts.services.find((one) => one.name === name)?.port();
  parts.origin = await originOf(settings, programs.routes, portOf);
  const url = `http://127.0.0.1:${parts.origin.port}`;

  terminal.say('starting NATS and Postgres');
  const [nats, postgres] = await bothOrNeither(
    provideNats(context, (kept) => {
      parts.nats = kept;
    }),
    providePostgres(context, (kept) => {
      parts.postgres = kept;
    }),
  );
  stopping.throwIfAborted();

  const environmentOf = (user: string): NodeJS.ProcessEnv => ({
    ...settings.environment,
    HEADWAY_NATS_URL: nats.urlOf(user),
    HEADWAY_POSTGRES_URL: postgres.urlOf(user),
    HEADWAY_PUBLIC_URL: settings.publicUrl ?? url,
    HEADWAY_OPERATOR_TOKEN_FILE: data.tokenFile,
    HEADWAY_LOG_LEVEL: settings.environment.HEADWAY_LOG_LEVEL ?? 'info',
  });
  const secrets = Object.fromEntries([...postgres.passwords].map(([role, own]) => [passwordVariable(role), own]));
  for (const job of programs.jobs) {
    if (job.makesRoles === true && postgres.passwords.size === 0) continue;
    terminal.say(`preparing ${job.name}`);
    await runJob(job, { ...environmentOf(ADMIN_USER), ...(job.makesRoles === true ? secrets : {}) }, context);
  }
  if (programs.services.length > 0) {
    terminal.say(`starting ${programs.services.map(({ name }) => name).join(', ')}`);
  }
  for (const service of programs.services)
    parts.services.push(keepService(service, environmentOf(service.name), context));
  await Promise.all(parts.services.map((service) => serviceReady(service, stopping)));

  data.announce({ pid: process.pid, url });
  terminal.print(
    readyMessage({
      url,
      natsUrl: nats.url,
      tokenFile: data.tokenFile,
      repositoryRoot: settings.repositoryRoot,
      dataFolder: join(data.path),
      notes: [...nats.notes, ...postgres.notes],
    }),
  );
}

/** How many ports after the default one are tried. */
const NEXT_PORTS = 99;

async function originOf(
  { port }: Settings,
  routes: Routes,
  portOf: (service: string) => number | undefined,
): Promise<Origin> {
  const host = '127.0.0.1';
  try {
    return await openOrigin({
      host,
      port: port.number,
      nextPorts: port.byName ? 0 : NEXT_PORTS,
      routes,
      addressOf: (service) => {
        const at = portOf(service);
        return at === undefined ? undefined : { host, port: at };
      },
      // The origin listens on loopback only, as the services do: a caller without a token is one of this machine either way.
      tellCaller: false,
      withheld: [],
    });
  } catch (error) {
    throw error instanceof ListenError ? new StartError(error.message) : error;
  }
}

/** Unlike `Promise.all` it lets both come to an end before it rejects, so that nothing is still being started when all is stopped. */
async function bothOrNeither<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

async function stopInOrder(parts: Parts, terminal: Terminal): Promise<void> {
  await parts.origin?.close();
  await Promise.all(parts.services.map((service) => service.stop()));
  await parts.postgres?.stop();
  await parts.nats?.stop();
  if (parts.nats !== undefined || parts.postgres !== undefined || parts.services.length > 0) terminal.say('stopped');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

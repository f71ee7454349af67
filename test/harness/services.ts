import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, freePort, startNats, startPostgres, type TestNats, type TestPostgres } from '@headway/testkit';

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

export const serviceNames = ['ingest', 'classifier', 'projection'] as const;
/** Second replicas and the executor, which run only where they are started. */
const others = ['ingest-2', 'classifier-2', 'projection-2', 'executor'] as const;
export type ServiceName = (typeof serviceNames)[number] | (typeof others)[number];

/** The real services as processes of their own, on a real log and a real store that belong to this test alone. */
export interface Services {
  readonly nats: TestNats;
  readonly postgres: TestPostgres;
  readonly natsUrl: string;
  readonly postgresUrl: string;
  /** The operator token: any tenant through the header `Headway-Tenant`. */
  readonly token: string;
  url(service: ServiceName): string;
  /** Of the running process; throws where it does not run. */
  pid(service: ServiceName): number;
  /** SIGKILL. */
  kill(service: ServiceName): Promise<void>;
  /** SIGSTOP: the process stands still, with everything it holds, until it is told to go on. */
  pause(service: ServiceName): void;
  /** SIGCONT. */
  goOn(service: ServiceName): void;
  start(service: ServiceName): Promise<void>;
  stop(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
}

const READY_MILLISECONDS = 60_000;

/** What a service printed, for the message of a failing test. */
const OUTPUT_CHARACTERS = 20_000;

export async function startServices(
  environment: Readonly<Record<string, string>> = {},
  {
    own = false,
    sync = 'always',
    started = serviceNames,
  }: {
    /** Servers that may be killed. */
    readonly own?: boolean;
    readonly sync?: 'always' | 'interval';
    /** The services that run from the beginning. */
    readonly started?: readonly ServiceName[];
  } = {},
): Promise<Services> {
  const folder = await mkdtemp(join(tmpdir(), 'headway-services-'));
  const token = randomBytes(32).toString('base64url');
  await writeFile(join(folder, 'operator-token'), token, { mode: 0o600 });
  const [nats, postgres] = await Promise.all([startNats({ own, sync }), startPostgres({ own })]);
  const shared = {
    ...process.env,
    HEADWAY_NATS_URL: nats.url,
    HEADWAY_POSTGRES_URL: postgres.url,
    HEADWAY_HOST: '127.0.0.1',
    HEADWAY_OPERATOR_TOKEN_FILE: join(folder, 'operator-token'),
    HEADWAY_LOG_LEVEL: 'info',
    HEADWAY_TICK_SECONDS: '0',
    ...environment,
  };
  for (const job of [
    'packages/platform/eventlog/src/provision.ts',
    'packages/platform/readmodel/src/migrate.ts',
    'packages/platform/claims/src/migrate.ts',
    'services/executor/src/journal/migrate.ts',
  ])
    await runJob(job, shared);

  const ports = new Map<ServiceName, number>();
  for (const name of [...serviceNames, ...others]) ports.set(name, await freePort());
  const running = new Map<ServiceName, Running>();
  const url = (name: ServiceName) => `http://127.0.0.1:${ports.get(name)}`;

  const start = async (name: ServiceName) => {
    let output = '';
    const child = spawn(process.execPath, [`services/${name.replace(/-\d+$/, '')}/src/main.ts`], {
      cwd: repositoryRoot,
      env: { ...shared, HEADWAY_PORT: String(ports.get(name)) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARACTERS);
      });
    let ended = false;
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        ended = true;
        resolve();
      });
    });
    running.set(name, { child, exited });
    await eventually(
      async () => {
        if (ended) return true;
        return (await fetch(`${url(name)}/readyz`)).status === 200;
      },
      { what: `readiness of ${name}`, within: READY_MILLISECONDS },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${output}`);
    });
    if (ended) throw new Error(`${name} ended before it was ready:\n${output}`);
  };

  const end = async (name: ServiceName, signal: NodeJS.Signals) => {
    const service = running.get(name);
    if (service === undefined) return;
    running.delete(name);
    service.child.kill(signal);
    await service.exited;
  };

  try {
    await Promise.all(started.map(start));
  } catch (error) {
    await Promise.all(started.map((name) => end(name, 'SIGKILL')));
    await Promise.all([nats.stop(), postgres.stop()]);
    throw error;
  }
  return {
    nats,
    postgres,
    natsUrl: nats.url,
    postgresUrl: postgres.url,
    token,
    url,
    pid(name) {
      const pid = running.get(name)?.child.pid;
      if (pid === undefined) throw new Error(`${name} does not run`);
      return pid;
    },
    kill: (name) => end(name, 'SIGKILL'),
    pause: (name) => void running.get(name)?.child.kill('SIGSTOP'),
    goOn: (name) => void running.get(name)?.child.kill('SIGCONT'),
    start,
    stop: async () => {
      for (const { child } of running.values()) child.kill('SIGCONT');
      await Promise.all([...running.keys()].map((name) => end(name, 'SIGTERM')));
      await Promise.all([nats.stop(), postgres.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function runJob(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [path], { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${path} ended with ${code}:\n${output}`);
}

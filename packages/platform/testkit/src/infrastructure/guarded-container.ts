import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ContainerRuntimeClient, GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import type { Engine } from './container-engine.ts';
import { OUR_RUN, OWNER_LABELS, sweepContainers } from './container-ownership.ts';
import { eventually } from './eventually.ts';

export interface ContainerPlan {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: readonly { readonly content: string; readonly target: string }[];
  /** Where the server listens inside. */
  readonly innerPort: number;
  /** Where it can be reached from the engine's machine, also after a restart. */
  readonly port: number;
  /** Whether the server does its work; may throw while it does not. */
  readonly ready: (host: string, port: number) => Promise<boolean>;
  readonly readyWithin: number;
  /** How the server is ended in good order. */
  readonly endSignal: NodeJS.Signals;
}

export interface GuardedContainer {
  readonly host: string;
  /** Of the server, as the engine's machine counts. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** Starts the server again at the same address over the same data, after ending it in good order if it runs. */
  restart(): Promise<void>;
  /** Ends the server in good order and removes its data. */
  remove(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const ENDED_WITHIN_MS = 10_000;
const OUTPUT_LINES = 50;

/** Starts a server in a container that cannot outlive this process. */
export async function startGuardedContainer(engine: Engine, plan: ContainerPlan): Promise<GuardedContainer> {
  const client = await getContainerRuntimeClient();
  await sweepContainers(engine);
  startGuard(engine);
  const host = addressOf(client);
  const name = `headway-testkit-${randomUUID()}`;
  const container = client.container.getById(name);
  let pid = 0;

  const untilReady = async () => {
    await eventually(
      async () => {
        const { State } = await container.inspect();
        pid = State.Pid;
        return !State.Running || (await plan.ready(host, plan.port));
      },
      { within: plan.readyWithin, what: `${plan.image} being ready` },
    );
    if (!(await container.inspect()).State.Running) throw new Error(`${plan.image} ended before it was ready`);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!(await container.inspect()).State.Running) return;
    await container.kill({ signal }).catch(unlessEnded);
    const ended = eventually(async () => !(await container.inspect()).State.Running, {
      within: ENDED_WITHIN_MS,
      what: `the end of ${plan.image} by ${signal}`,
    });
    await ended.catch(async (error) => {
      await container.kill({ signal: 'SIGKILL' }).catch(unlessEnded);
      throw error;
    });
    // The engine closes the port a moment after the server has ended.
    await eventually(() => refuses(host, plan.port), { within: ENDED_WITHIN_MS, what: `port ${plan.port} closing` });
  };
  const discard = () => container.remove({ force: true, v: true });

  try {
    await new PlannedContainer(plan, name, host).start();
    await untilReady();
  } catch (cause) {
    const said = await outputOf(client, name);
    await discard().catch(() => {});
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${plan.image} did not start on port ${plan.port}: ${why}\n${said}`, { cause });
  }
  return {
    host,
    get pid() {
      return pid;
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end(plan.endSignal);
      await eventually(() => container.start().then(() => true), {
        within: plan.readyWithin,
        what: `${plan.image} starting again`,
      });
      await untilReady();
    },
    async remove() {
      try {
        await end(plan.endSignal);
      } finally {
        await discard();
      }
    },
  };
}

/** Readiness is ours to judge, and so is removal: that needs no reaper's image, and no engine socket in a container. */
class PlannedContainer extends GenericContainer {
  constructor(plan: ContainerPlan, name: string, host: string) {
    super(plan.image);
    this.withName(name)
      .withLabels(OWNER_LABELS)
      .withCommand([...plan.command])
      .withEnvironment({ ...plan.environment })
      .withCopyContentToContainer([...(plan.files ?? [])])
      .withExposedPorts({ container: plan.innerPort, host: plan.port })
      .withWaitStrategy(Wait.forAll([]))
      .withAutoCleanup(false);
    // Where the tests reach it on loopback, nobody else needs to reach it.
    if (host === LOOPBACK)
      this.hostConfig.PortBindings = {
        [`${plan.innerPort}/tcp`]: [{ HostIp: LOOPBACK, HostPort: String(plan.port) }],
      };
  }
}

function addressOf(client: ContainerRuntimeClient): string {
  const { host } = client.info.containerRuntime;
  return host === 'localhost' ? LOOPBACK : host;
}

let guarded = false;

/** One guard for all containers of this process. */
function startGuard(engine: Engine): void {
  if (guarded) return;
  guarded = true;
  const program = fileURLToPath(new URL('./container-guard.ts', import.meta.url));
  const guard = spawn(process.execPath, [program, JSON.stringify(engine), OUR_RUN], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => {});
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
}

/** The engine answers so where the server ended before the signal came. */
function unlessEnded(error: { readonly statusCode?: number }): void {
  if (error.statusCode !== 409) throw error;
}

function refuses(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

/** The last lines of a container, for an error. */
async function outputOf(client: ContainerRuntimeClient, name: string): Promise<string> {
  try {
    const options = { follow: false, stdout: true, stderr: true, tail: OUTPUT_LINES } as const;
    return withoutFrames((await client.container.getById(name).logs(options)) as Buffer);
  } catch (error) {
    return `(its output could not be read: ${String(error)})`;
  }
}

/** The engine puts eight bytes before each piece: the stream, three zeroes, and the length. */
function withoutFrames(framed: Buffer): string {
  const pieces: string[] = [];
  for (let at = 0; at + 8 <= framed.length; ) {
    const length = framed.readUInt32BE(at + 4);
    pieces.push(framed.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return pieces.join('');
}

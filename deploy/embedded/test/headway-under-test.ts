import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../src/waiting.ts';

const START_MS = 90_000;
const GONE_MS = 40_000;

export interface UnderTest {
  readonly child: ChildProcess;
  readonly url: string;
  readonly natsUrl: string;
  output(): string;
  /** Process groups of all it started, by name. */
  groups(): Record<string, number>;
}

export interface StartOptions {
  readonly data: string;
  readonly env?: Record<string, string>;
  /** `fake-start.mjs` puts the set-up's part in between, as `npm start` does. */
  readonly program?: 'fake-main.ts' | 'fake-start.mjs';
}

/** A folder that every user may pass through, so that Postgres' data is in it for root too. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'headway supervisor '));
  chmodSync(folder, 0o755);
  return folder;
}

function launch({ data, env = {}, program = 'fake-main.ts' }: StartOptions): { child: ChildProcess; output(): string } {
  for (const name of ['HEADWAY_NATS_SERVER', 'HEADWAY_POSTGRES_HOME']) {
    if (!process.env[name]) throw new Error(`${name} is not set: run these tests with npm test, which sets it`);
  }
  const file = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const { HEADWAY_NATS_URL: _, HEADWAY_POSTGRES_URL: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [file], {
    env: { ...inherited, HEADWAY_PORT: '0', ...env, HEADWAY_DATA_DIR: data },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

/** Starts Headway and waits until it says that it is ready. */
export async function startHeadway(options: StartOptions): Promise<UnderTest> {
  const { child, output } = launch(options);
  const ready = await until(() => {
    if (child.exitCode !== null || child.signalCode !== null) return 'ended' as const;
    return output().includes('Ctrl-C here') ? ('ready' as const) : undefined;
  }, START_MS);
  if (ready !== 'ready') throw new Error(`Headway did not become ready (${ready ?? 'too slow'}):\n${output()}`);
  return {
    child,
    output,
    url: /headway ready: (\S+)/.exec(output())?.[1] ?? '',
    natsUrl: /subscribe at\s+(\S+)/.exec(output())?.[1] ?? '',
    groups: () => {
      const record = JSON.parse(readFileSync(join(options.data, 'processes.json'), 'utf8')) as Record<
        string,
        { group: number }
      >;
      return Object.fromEntries(Object.entries(record).map(([name, { group }]) => [name, group]));
    },
  };
}

/** Starts Headway where it is expected to fail; its exit code and all it printed. */
export async function startFailing(options: StartOptions): Promise<{ code: number | null; output: string }> {
  const { child, output } = launch(options);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}

/** The processes that are in one of these groups now. */
export function membersOf(groups: readonly number[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state !== 'Z' && groups.includes(Number(group));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Whether all processes of these groups went away in time. */
export async function allGone(groups: readonly number[]): Promise<boolean> {
  return (await until(() => (membersOf(groups).length === 0 ? true : undefined), GONE_MS)) === true;
}

/** Ends what a failed test may have left, and its folder. */
export async function cleanUp(started: readonly UnderTest[], folder: string): Promise<void> {
  for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  await until(
    () => (started.every(({ child }) => child.exitCode !== null || child.signalCode !== null) ? true : undefined),
    GONE_MS,
  );
  rmSync(folder, { recursive: true, force: true });
}

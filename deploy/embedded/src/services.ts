import { join } from 'node:path';
import { startGuarded } from './guarded.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { logFile } from './logs.ts';
import { freePort } from './ports.ts';
import type { Service } from './programs.ts';
import type { Supervision } from './supervision.ts';
import { StartError } from './terminal.ts';
import { until } from './waiting.ts';

const READY_MS = 120_000;
const ANSWER_MS = 2_000;
/** Longer than the ten seconds in which a service ends by itself. */
const PATIENCE_MS = 12_000;

export interface KeptService extends Kept {
  /** Where it listens now; undefined while it does not run. A restart may move it. */
  readonly port: () => number | undefined;
}

/** Starts a service and keeps it running. */
export function keepService(service: Service, env: NodeJS.ProcessEnv, context: Supervision): KeptService {
  const { settings, data, record, terminal } = context;
  let port: number | undefined;
  const kept = keepRunning({
    name: service.name,
    log: logFile(data.logs, service.name),
    record,
    terminal,
    showWarnings: true,
    launch: async () => {
      port = await freePort();
      return startGuarded(process.execPath, [join(settings.repositoryRoot, service.main)], {
        env: { ...env, HEADWAY_HOST: '127.0.0.1', HEADWAY_PORT: String(port) },
        cwd: settings.repositoryRoot,
        patienceMs: PATIENCE_MS,
        ipc: true,
      });
    },
  });
  return { ...kept, port: () => (kept.running() ? port : undefined) };
}

async function readiness(port: number): Promise<{ ready: boolean; answer: string }> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return { ready: response.status === 200, answer: `${response.status} ${(await response.text()).slice(0, 500)}` };
  } catch (error) {
    return { ready: false, answer: error instanceof Error ? error.message : String(error) };
  }
}

/** Waits until a service says that it is ready. @throws {StartError} with its last answer where it does not in time */
export async function serviceReady(service: KeptService, stopping: AbortSignal): Promise<void> {
  let last = 'it does not run';
  const ask = async (): Promise<true | undefined> => {
    const port = service.port();
    if (port === undefined) return undefined;
    const { ready, answer } = await readiness(port);
    last = answer;
    return ready ? true : undefined;
  };
  const ready = await Promise.race([until(ask, READY_MS, stopping), service.gaveUp]);
  stopping.throwIfAborted();
  if (ready === undefined) {
    throw new StartError(
      `${service.name} was not ready within ${READY_MS / 1000} s; /readyz answered: ${last}\n  The end of ${service.log.path}:\n${service.log.lastLines()}`,
    );
  }
  service.started();
}

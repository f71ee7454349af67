import { existsSync } from 'node:fs';
import http from 'node:http';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

/** Where a Docker engine listens. */
export type Engine = { readonly socketPath: string } | { readonly host: string; readonly port: number };

const ENGINE_ANSWERS_WITHIN_MS = 1_000;
const REQUEST_WITHIN_MS = 15_000;
const PLAIN_PORT = 2375;

/**
 * The Docker engine that answers: that of `DOCKER_HOST` where it is set, else the one at a usual socket; `null` when
 * none does. Only `unix:` and unencrypted `tcp:` addresses are understood. Takes no time where no socket exists.
 */
export async function findEngine(): Promise<Engine | null> {
  for (const engine of candidates()) if (await answers(engine)) return engine;
  return null;
}

function candidates(): Engine[] {
  const named = process.env.DOCKER_HOST;
  if (named === undefined || named === '') return usualSockets().map((socketPath) => ({ socketPath }));
  const url = URL.canParse(named) ? new URL(named) : null;
  if (url?.protocol === 'unix:') return [{ socketPath: url.pathname }];
  const encrypted = (process.env.DOCKER_TLS_VERIFY ?? '') !== '';
  if (url === null || encrypted || !['tcp:', 'http:'].includes(url.protocol)) return [];
  return [{ host: url.hostname, port: Number(url.port) || PLAIN_PORT }];
}

/** In the order in which testcontainers looks at them. */
function usualSockets(): string[] {
  const runtime = process.env.XDG_RUNTIME_DIR;
  const rootless = [
    ...(runtime === undefined ? [] : [path.join(runtime, 'docker.sock')]),
    path.join(homedir(), '.docker', 'run', 'docker.sock'),
    path.join(homedir(), '.docker', 'desktop', 'docker.sock'),
    path.join('/run/user', String(userInfo().uid), 'docker.sock'),
  ];
  return ['/var/run/docker.sock', ...rootless].filter((file) => existsSync(file));
}

async function answers(engine: Engine): Promise<boolean> {
  try {
    return (await askEngine(engine, 'GET', '/_ping', ENGINE_ANSWERS_WITHIN_MS)).status === 200;
  } catch {
    return false;
  }
}

/** One request of the engine's HTTP interface, without a body. Throws when the engine does not answer in time. */
export function askEngine(
  engine: Engine,
  method: 'GET' | 'DELETE',
  target: string,
  within = REQUEST_WITHIN_MS,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(within);
    const request = http.request({ ...engine, method, path: target, agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.once('error', reject);
    request.end();
  });
}

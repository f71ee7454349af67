import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface FakeContainer {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface FakeEngine {
  /** For DOCKER_HOST. */
  readonly url: string;
  readonly socketPath: string;
  /** What it runs; a test puts them in. */
  readonly containers: Map<string, FakeContainer>;
  /** `METHOD path` of each request so far, without the query. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Something at a socket that answers as a Docker engine without images does. Its registry is away, or never answers. */
export async function startFakeEngine(registry: 'away' | 'silent' = 'away'): Promise<FakeEngine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'headway-fake-engine-'));
  const socketPath = path.join(folder, 'engine.sock');
  const asked: string[] = [];
  const containers = new Map<string, FakeContainer>();
  const server = http.createServer((request, response) => {
    const target = (request.url ?? '').replace(/\?.*/, '').replace(/^\/v[\d.]+/, '');
    asked.push(`${request.method} ${target}`);
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (target === '/_ping') answer(200, 'OK');
    else if (target === '/containers/json') answer(200, labelled(containers, request.url ?? ''));
    else if (request.method === 'DELETE') answer(containers.delete(path.basename(target)) ? 204 : 404, {});
    else if (target === '/info') answer(200, { OperatingSystem: 'fake', ServerVersion: '0' });
    // Asked for where the tests themselves run in a container.
    else if (target === '/networks/bridge') answer(200, { IPAM: { Config: [{ Gateway: '127.0.0.1' }] } });
    else if (target.startsWith('/images/') && target.endsWith('/json')) answer(404, { message: 'No such image: it' });
    else if (target === '/images/create' && registry === 'silent') return;
    else if (target === '/images/create') answer(500, { message: 'the registry cannot be reached' });
    else answer(404, { message: 'not here' });
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  return {
    url: `unix://${socketPath}`,
    socketPath,
    containers,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function labelled(containers: ReadonlyMap<string, FakeContainer>, target: string): FakeContainer[] {
  const filters = new URL(target, 'http://engine').searchParams.get('filters') ?? '{}';
  const { label = [] } = JSON.parse(filters) as { label?: string[] };
  return [...containers.values()].filter(({ Labels }) =>
    label.every((wanted) => Object.entries(Labels).some(([name, value]) => `${name}=${value}` === wanted)),
  );
}

import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** The folder where the project keeps what it fetched: `HEADWAY_CACHE_DIR`, else `headway` in the user's cache folder. */
export function cacheFolder(): string {
  return (
    process.env.HEADWAY_CACHE_DIR ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'headway')
  );
}

/** Path of a nats-server: `HEADWAY_NATS_SERVER`, one on PATH, or the newest in the cache. Throws when there is none. */
export function findNatsServer(): string {
  const named = process.env.HEADWAY_NATS_SERVER;
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`HEADWAY_NATS_SERVER names ${named}, which cannot be executed`);
    return named;
  }
  const onPath = (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'nats-server'))
    .find(isExecutable);
  const found = onPath ?? newestCached(path.join(cacheFolder(), 'nats-server'));
  if (found !== undefined) return found;
  throw new Error(
    'no nats-server found: set HEADWAY_NATS_SERVER to one, put one on PATH, run `npm start` once (it fetches one), ' +
      'or set HEADWAY_TEST_NATS_URL to a running server',
  );
}

/** `2.15.1` of `nats-server: v2.15.1`. */
export function versionOfNatsServer(binary: string): string {
  const said = execFileSync(binary, ['--version'], { encoding: 'utf8' });
  const version = /v(\d+\.\d+\.\d+)/.exec(said)?.[1];
  if (version === undefined) throw new Error(`${binary} --version said ${JSON.stringify(said)}, not a version`);
  return version;
}

/** Whether version `a` is `b` or newer. */
export function isAtLeast(a: string, b: string): boolean {
  return compareVersions(a, b) >= 0;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function newestCached(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder)
    .sort((a, b) => compareVersions(b, a))
    .map((version) => path.join(folder, version, 'nats-server'))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

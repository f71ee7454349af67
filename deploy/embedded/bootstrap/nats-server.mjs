// A real nats-server. No npm package ships one, so it is looked for in several places, the nearest first.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fromDebian } from './nats-from-debian.mjs';
import { fromDocker } from './nats-from-docker.mjs';
import { fromHomebrew } from './nats-from-homebrew.mjs';
import { run, SetupError, say, withSignOfLife } from './progress.mjs';

/** The oldest nats-server that Headway's core paths are tested with. */
const OLDEST = [2, 9, 10];

function compare(left, right) {
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return left[i] - right[i];
  return 0;
}

/** The version of a nats-server as three numbers, or undefined where it does not run. */
export async function versionOf(binary) {
  const { code, output } = await run(binary, ['--version']);
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(output);
  return code === 0 && found ? found.slice(1, 4).map(Number) : undefined;
}

async function usable(binary) {
  const version = await versionOf(binary);
  return version !== undefined && compare(version, OLDEST) >= 0;
}

async function onPath(env) {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const binary = join(folder, 'nats-server');
    if (folder !== '' && existsSync(binary)) {
      if (await usable(binary)) return binary;
      say(`  ${binary} is older than ${OLDEST.join('.')} or does not run; it is not used`);
    }
  }
  return undefined;
}

async function inCache(folder) {
  if (!existsSync(folder)) return undefined;
  const versions = readdirSync(folder)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .map((name) => name.split('.').map(Number))
    .sort(compare)
    .reverse();
  for (const version of versions) {
    const binary = join(folder, version.join('.'), 'nats-server');
    if (existsSync(binary) && (await usable(binary))) return binary;
  }
  return undefined;
}

async function keep(binary, folder) {
  const version = await versionOf(binary);
  if (version === undefined || compare(version, OLDEST) < 0) return undefined;
  const target = join(folder, version.join('.'));
  mkdirSync(target, { recursive: true });
  const staging = join(target, `.nats-server-${process.pid}`);
  copyFileSync(binary, staging);
  chmodSync(staging, 0o755);
  renameSync(staging, join(target, 'nats-server'));
  return join(target, 'nats-server');
}

const THREE_WAYS = `no nats-server could be found or brought. Get one in any of these ways, then run this command again:
  1. install it so that it is on your PATH: apt-get install nats-server, brew install nats-server, or your system's own package
  2. download a release of nats-server (2.9.10 or newer) from https://github.com/nats-io/nats-server/releases and set
     HEADWAY_NATS_SERVER to the path of the binary
  3. set HEADWAY_NATS_URL to a NATS server with JetStream that is already running, for example one from
     docker run -p 4222:4222 nats:2 -js`;

/** The path of a nats-server that was seen to run. */
export async function findNatsServer(cache, env = process.env) {
  if (env.HEADWAY_NATS_SERVER) {
    if (await usable(env.HEADWAY_NATS_SERVER)) return env.HEADWAY_NATS_SERVER;
    throw new SetupError(
      `HEADWAY_NATS_SERVER is ${env.HEADWAY_NATS_SERVER}, which does not run as nats-server ${OLDEST.join('.')} or newer. Correct it or unset it.`,
    );
  }
  const folder = join(cache, 'nats-server');
  const near = (await onPath(env)) ?? (await inCache(folder));
  if (near !== undefined) return near;
  const ways = [
    { name: 'Debian packages', bring: fromDebian },
    { name: 'Homebrew', bring: fromHomebrew },
    { name: 'Docker', bring: fromDocker },
  ];
  for (const { name, bring } of ways) {
    const kept = await withSignOfLife(`bringing nats-server from ${name}`, () =>
      bring(folder, (binary) => keep(binary, folder)),
    );
    if (kept !== undefined) {
      say(`nats-server is now kept at ${kept}`);
      return kept;
    }
  }
  throw new SetupError(THREE_WAYS);
}

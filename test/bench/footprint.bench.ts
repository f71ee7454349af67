/**
 * What each service needs: resident memory when it has nothing to do and after a fleet of 1,000 works reported through it,
 * the time from its start to its readiness, and the time of the whole product's first and second `npm start` on a data folder
 * (its servers are on the machine already). Run it with Node: `node test/bench/footprint.bench.ts [events]`. Prints one line of
 * JSON for the services and one for the whole.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@headway/testkit';
import { apiOf } from '../harness/api.ts';
import { planFleet } from '../harness/fleet-plan.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { repositoryRoot, type ServiceName, serviceNames, startServices } from '../harness/services.ts';

const WORKS = 1_000;
const BATCH = 500;
/** Long enough for a collector that has nothing else to do. */
const REST_MS = 10_000;
const START_PATIENCE_MS = 180_000;
const events = Number(process.argv[2] ?? 20_000);

/** A figure of `/proc/<pid>/status`, in MiB; `null` where this system does not tell it. */
function memoryOf(pid: number, figure: 'VmRSS' | 'VmHWM'): number | null {
  try {
    const found = new RegExp(`^${figure}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return found === undefined ? null : Math.round(Number(found) / 1_024);
  } catch {
    return null;
  }
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
const secondsSince = (started: number) => Number(((performance.now() - started) / 1_000).toFixed(2));

async function measureServices() {
  const services = await startServices({ HEADWAY_LOG_LEVEL: 'warn' }, { sync: 'always' });
  try {
    const readyAfterSeconds: Record<string, number> = {};
    for (const name of serviceNames) {
      await services.kill(name);
      const started = performance.now();
      await services.start(name);
      readyAfterSeconds[name] = secondsSince(started);
    }
    const of = (figure: 'VmRSS' | 'VmHWM') =>
      Object.fromEntries(serviceNames.map((name: ServiceName) => [name, memoryOf(services.pid(name), figure)]));
    await rest();
    const idleMiB = of('VmRSS');
    const api = apiOf(services);
    let position: string | null = null;
    for (const round of planFleet({ works: WORKS, rounds: Math.ceil(events / WORKS), seed: 9 }).rounds)
      for (let at = 0; at < round.length; at += BATCH)
        position = (await postUntilAnswered(api, round.slice(at, at + BATCH))).position;
    for (let seen = false; !seen; ) {
      const waited = await api.works(position).catch((error: unknown) => {
        if (String(error).includes(' 504 ')) return null;
        throw error;
      });
      seen = waited !== null;
    }
    const loadedMiB = of('VmRSS');
    await rest();
    console.log(
      JSON.stringify({
        bench: 'footprint',
        of: 'services',
        server: services.nats.version,
        sync: services.nats.sync,
        works: WORKS,
        events,
        readyAfterSeconds,
        idleMiB,
        loadedMiB,
        peakMiB: of('VmHWM'),
        restedMiB: of('VmRSS'),
      }),
    );
  } finally {
    await services.stop();
  }
}

/** Starts the whole product as a user does, and ends it as one does. Seconds until it says that it is ready. */
async function startWhole(folder: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ['deploy/embedded/bootstrap/start.mjs'], {
    cwd: repositoryRoot,
    env: { ...process.env, HEADWAY_DATA_DIR: folder, HEADWAY_PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: START_PATIENCE_MS,
  });
  let output = '';
  const exited = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`Headway ended before it was ready:\n${output}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.includes('Ctrl-C here')) resolve();
    });
  });
  const seconds = secondsSince(started);
  child.removeAllListeners('exit');
  const ended = child.exitCode === null ? once(child, 'exit') : exited;
  child.kill('SIGINT');
  await ended;
  return seconds;
}

await measureServices();
const folder = await mkdtemp(join(tmpdir(), 'headway-footprint-'));
try {
  const first = await startWhole(folder);
  const second = await startWhole(folder);
  console.log(
    JSON.stringify({ bench: 'footprint', of: 'npm start', firstStartSeconds: first, secondStartSeconds: second }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

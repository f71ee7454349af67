/**
 * What the whole product takes, as `npm start` runs it: from the command to ready, the first time and with the data of an
 * earlier run, and the memory of each service, idle and after a fleet of 1,000 works. `node test/bench/start.bench.ts [events]`
 * prints one line of JSON. Linux alone: memory is read from /proc.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@headway/testkit';
import { apiOf } from '../harness/api.ts';
import { type Embedded, startEmbedded } from '../harness/embedded.ts';
import { planFleet } from '../harness/fleet-plan.ts';

const WORKS = 1_000;
const BATCH = 100;
const IDLE_MILLISECONDS = 5_000;
const events = Number(process.argv[2] ?? 20_000);

/** Of the children of this process, however deep: what they run, and their memory in MiB. */
async function memoryOfServices(): Promise<Record<string, { nowMiB: number; peakMiB: number }>> {
  const parents = new Map<number, number>();
  const memory: Record<string, { nowMiB: number; peakMiB: number }> = {};
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const status = new Map<number, string>();
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
    if (text === null) continue;
    status.set(pid, text);
    parents.set(pid, Number(/^PPid:\s+(\d+)/m.exec(text)?.[1]));
  }
  const ours = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || ours(parents.get(pid)));
  for (const [pid, text] of status) {
    if (pid === process.pid || !ours(pid)) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const service = /services\/([a-z-]+)\/src\/main\.ts$/.exec(command[1] ?? '')?.[1];
    const name = service ?? (/nats-server[^/]*$/.test(command[0] ?? '') ? 'nats-server' : undefined);
    if (name === undefined) continue;
    const of = (member: string) => Math.round(Number(new RegExp(`^${member}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1_024);
    memory[name] = { nowMiB: of('VmRSS'), peakMiB: of('VmHWM') };
  }
  return memory;
}

async function timed(data: string): Promise<{ embedded: Embedded; took: number }> {
  const began = performance.now();
  const embedded = await startEmbedded({ HEADWAY_DATA_DIR: data });
  return { embedded, took: Number(((performance.now() - began) / 1_000).toFixed(2)) };
}

async function report(embedded: Embedded, round: string): Promise<string> {
  const token = (await readFile(embedded.tokenFile, 'utf8')).trim();
  const api = apiOf({ token, url: () => embedded.url });
  const plan = planFleet({ works: WORKS, rounds: Math.ceil(events / WORKS), seed: 3 }).rounds.flat();
  let position: string | null = null;
  for (let at = 0; at < plan.length; at += BATCH) {
    const some = plan.slice(at, at + BATCH).map((event) => ({ ...event, id: `${round}/${event.id}` }));
    ({ position } = await api.post(some));
  }
  await eventually(() => api.works(position), { within: 300_000, what: 'the view of the last event' });
  return position ?? '';
}

const settle = () => new Promise((resolve) => setTimeout(resolve, IDLE_MILLISECONDS));
const folder = await mkdtemp(join(tmpdir(), 'headway-bench-'));
try {
  const first = await timed(join(folder, 'data'));
  await settle();
  const idle = await memoryOfServices();
  await report(first.embedded, 'first');
  const loaded = await memoryOfServices();
  await settle();
  const after = await memoryOfServices();
  await first.embedded.stop();
  const second = await timed(join(folder, 'data'));
  await second.embedded.stop();
  const memory = Object.fromEntries(
    Object.entries(idle).map(([name, { nowMiB }]) => [
      name,
      {
        idleMiB: nowMiB,
        loadedMiB: loaded[name]?.nowMiB,
        peakMiB: loaded[name]?.peakMiB,
        laterMiB: after[name]?.nowMiB,
      },
    ]),
  );
  console.log(
    JSON.stringify({
      bench: 'start',
      works: WORKS,
      events,
      firstStartSeconds: first.took,
      secondStartSeconds: second.took,
      aimSeconds: 5,
      memory,
      aimIdleMiB: 150,
    }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

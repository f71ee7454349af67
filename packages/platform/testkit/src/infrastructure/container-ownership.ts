import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { askEngine, type Engine } from './container-engine.ts';
import { isAlive } from './scratch.ts';

const MACHINE = 'headway.testkit.machine';
const PROCESS = 'headway.testkit.process';
const RUN = 'headway.testkit.run';
const run = randomUUID();

/** Tells the containers of this process from all others. */
export const OUR_RUN = `${RUN}=${run}`;

/** On every container that this process starts. */
export const OWNER_LABELS = { [MACHINE]: hostname(), [PROCESS]: String(process.pid), [RUN]: run } as const;

interface Listed {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** Ends and removes the containers with this label, and their data; answers with how many there were. */
export async function removeContainers(
  engine: Engine,
  label: string,
  chosen: (labels: Readonly<Record<string, string>>) => boolean = () => true,
): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const { status, text } = await askEngine(engine, 'GET', `/containers/json?all=1&filters=${filters}`);
  if (status !== 200) throw new Error(`the container engine answered ${status} when asked for its containers: ${text}`);
  const found = (JSON.parse(text) as Listed[]).filter(({ Labels }) => chosen(Labels));
  for (const { Id } of found) await askEngine(engine, 'DELETE', `/containers/${Id}?force=1&v=1`);
  return found.length;
}

let swept = false;

/** Removes the containers of test processes of this machine that are gone. Once per process. */
export async function sweepContainers(engine: Engine): Promise<void> {
  if (swept) return;
  swept = true;
  await removeContainers(engine, `${MACHINE}=${hostname()}`, (labels) => !isAlive(Number(labels[PROCESS])));
}

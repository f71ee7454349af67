/**
 * A program of its own: removes the containers of a test process when standard input closes. Input is a pipe that only
 * the test process holds, so it closes however that process dies, by SIGKILL too.
 * Arguments: where the engine listens, as JSON; the label of the containers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from './container-engine.ts';
import { removeContainers } from './container-ownership.ts';

/** A container that was being created when its process died appears a little later. */
const SETTLED_AFTER_EMPTY_LOOKS = 3;
const LOOK_EVERY_MS = 1_000;
const GIVE_UP_AFTER_MS = 60_000;

for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {});
const [engineText = '', label = ''] = process.argv.slice(2);
const engine = JSON.parse(engineText) as Engine;

process.stdin.resume();
process.stdin.once('close', async () => {
  const deadline = Date.now() + GIVE_UP_AFTER_MS;
  for (let empty = 0; empty < SETTLED_AFTER_EMPTY_LOOKS && Date.now() < deadline; ) {
    const removed = await removeContainers(engine, label).catch(() => -1);
    empty = removed === 0 ? empty + 1 : 0;
    await pause(LOOK_EVERY_MS);
  }
  process.exit();
});

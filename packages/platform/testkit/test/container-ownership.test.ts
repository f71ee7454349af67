import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually } from '@headway/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { OUR_RUN, OWNER_LABELS, sweepContainers } from '../src/infrastructure/container-ownership.ts';
import { type FakeEngine, startFakeEngine } from './fake-engine.ts';

let engine: FakeEngine;
beforeAll(async () => {
  engine = await startFakeEngine();
});
afterAll(() => engine.close());
beforeEach(() => engine.containers.clear());

function holds(Id: string, labels: Readonly<Record<string, string>>): void {
  engine.containers.set(Id, { Id, Labels: labels });
}

it('removes the containers of test processes of this machine that are gone, and no others', async () => {
  const gone = { ...OWNER_LABELS, 'headway.testkit.process': String(spawnSync('true').pid) };
  holds('left-behind', gone);
  holds('in-use', OWNER_LABELS);
  holds('of-another-machine', { ...gone, 'headway.testkit.machine': 'another' });
  holds('of-somebody-else', { app: 'theirs' });
  await sweepContainers({ socketPath: engine.socketPath });
  expect([...engine.containers.keys()]).toEqual(['in-use', 'of-another-machine', 'of-somebody-else']);
});

it('removes the containers of a process when it goes away, also one that comes late, and then ends', async () => {
  holds('ours', OWNER_LABELS);
  holds('of-another-run', { ...OWNER_LABELS, 'headway.testkit.run': 'another' });
  const program = fileURLToPath(new URL('../src/infrastructure/container-guard.ts', import.meta.url));
  const place = JSON.stringify({ socketPath: engine.socketPath });
  const guard = spawn(process.execPath, [program, place, OUR_RUN], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => guard.once('exit', resolve));
  guard.stdin.end();
  await eventually(() => !engine.containers.has('ours'), { what: 'the removal' });
  holds('late', OWNER_LABELS);
  await ended;
  expect([...engine.containers.keys()]).toEqual(['of-another-run']);
});

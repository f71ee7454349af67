import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeEngine, startFakeEngine } from './fake-engine.ts';

let engine: FakeEngine;
beforeAll(async () => {
  engine = await startFakeEngine();
});
afterAll(() => engine.close());

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of its own, because what was chosen and told is remembered for the life of a process. */
function startNatsWith(environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const program = fileURLToPath(new URL('./tell-nats.ts', import.meta.url));
  const env = {
    ...process.env,
    HEADWAY_TEST_NATS_URL: '',
    DOCKER_TLS_VERIFY: '',
    HEADWAY_TEST_NATS_IMAGE: absentImage(),
    ...environment,
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** New each time, because it is remembered for a while that an image could not be had. */
const absentImage = () => `headway.invalid/absent-${randomUUID()}:1`;

it('takes a local binary, and says so in one line, where an engine answers that cannot get the image', async () => {
  const image = absentImage();
  const { code, stdout, stderr } = await startNatsWith({
    DOCKER_HOST: engine.url,
    HEADWAY_TEST_CONTAINERS: 'auto',
    HEADWAY_TEST_NATS_IMAGE: image,
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(JSON.parse(stdout)).toMatchObject({ local: true });
  const lines = stderr.split('\n').filter((line) => line.includes(image));
  expect(lines).toEqual([expect.stringMatching(/there is no image .*; taking local binaries$/)]);
});

it('does not ask the registry again soon after a vain try', async () => {
  const environment = {
    DOCKER_HOST: engine.url,
    HEADWAY_TEST_CONTAINERS: 'auto',
    HEADWAY_TEST_NATS_IMAGE: absentImage(),
  };
  const pulls = () => engine.asked.filter((request) => request === 'POST /images/create').length;
  const before = pulls();
  await startNatsWith(environment);
  expect(pulls()).toBe(before + 1);
  expect((await startNatsWith(environment)).code).toBe(0);
  expect(pulls()).toBe(before + 1);
});

it('refuses where containers are asked for by name and cannot be had', async () => {
  const noImage = await startNatsWith({ DOCKER_HOST: engine.url, HEADWAY_TEST_CONTAINERS: 'on' });
  expect(noImage.code).not.toBe(0);
  expect(noImage.stderr).toMatch(/HEADWAY_TEST_CONTAINERS is on, but there is no image .*docker pull/);
  const noEngine = await startNatsWith({ DOCKER_HOST: 'unix:///nowhere.sock', HEADWAY_TEST_CONTAINERS: 'on' });
  expect(noEngine.code).not.toBe(0);
  expect(noEngine.stderr).toMatch(/HEADWAY_TEST_CONTAINERS is on, but no Docker engine answers/);
});

it('asks no engine when containers are off, and takes a word it does not know for a mistake', async () => {
  const before = engine.asked.length;
  const off = await startNatsWith({ DOCKER_HOST: engine.url, HEADWAY_TEST_CONTAINERS: 'off' });
  expect(off.code).toBe(0);
  expect(JSON.parse(off.stdout)).toMatchObject({ local: true });
  expect(engine.asked).toHaveLength(before);
  const odd = await startNatsWith({ HEADWAY_TEST_CONTAINERS: 'perhaps' });
  expect(odd.code).not.toBe(0);
  expect(odd.stderr).toContain('HEADWAY_TEST_CONTAINERS is "perhaps": set it to off, on or auto');
});

it('takes a local binary without a word where no engine answers', async () => {
  const { code, stdout, stderr } = await startNatsWith({
    DOCKER_HOST: 'unix:///nowhere.sock',
    HEADWAY_TEST_CONTAINERS: 'auto',
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ local: true });
});

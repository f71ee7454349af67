// nats-server out of the official image, where a Docker engine answers.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, run, say } from './progress.mjs';

const IMAGE = 'nats:2';
const ENGINE_ANSWER_MS = 5_000;

export async function fromDocker(folder, keep) {
  const engine = await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeoutMs: ENGINE_ANSWER_MS });
  if (engine.code !== 0) return undefined;
  say(`bringing nats-server from the Docker image ${IMAGE}`);
  const created = await run('docker', ['create', IMAGE]);
  const container = created.output.trim().split('\n').at(-1);
  if (created.code !== 0) {
    say(`  Docker could not create a container of it:\n${lastLines(created.output, 3)}`);
    return undefined;
  }
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(join(folder, '.docker-'));
  try {
    const copied = await run('docker', ['cp', `${container}:/nats-server`, join(staging, 'nats-server')]);
    return copied.code === 0 ? await keep(join(staging, 'nats-server')) : undefined;
  } finally {
    await run('docker', ['rm', container]);
    rmSync(staging, { recursive: true, force: true });
  }
}

// nats-server from Homebrew, where the user has it.
import { join } from 'node:path';
import { run, say } from './progress.mjs';

export async function fromHomebrew(_folder, keep) {
  if ((await run('brew', ['--version'])).code !== 0) return undefined;
  say('bringing nats-server from Homebrew');
  const installed = await run('brew', ['install', 'nats-server'], { show: true });
  if (installed.code !== 0) return undefined;
  const { code, output } = await run('brew', ['--prefix', 'nats-server']);
  return code === 0 ? keep(join(output.trim(), 'bin', 'nats-server')) : undefined;
}

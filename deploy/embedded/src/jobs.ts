import { join } from 'node:path';
import { startGuarded } from './guarded.ts';
import { logFile } from './logs.ts';
import type { Job } from './programs.ts';
import { runToEnd } from './run-to-end.ts';
import type { Supervision } from './supervision.ts';

/** Runs one job to its end. @throws {StartError} with the end of its output where it fails */
export async function runJob(job: Job, env: NodeJS.ProcessEnv, context: Supervision): Promise<void> {
  const { repositoryRoot } = context.settings;
  const child = startGuarded(process.execPath, [join(repositoryRoot, job.main)], {
    env,
    cwd: repositoryRoot,
    ipc: true,
  });
  await runToEnd(job.name, child, logFile(context.data.logs, job.name), context);
}

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Context, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

const repositoryRoot = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Starts everything on this machine, in the foreground. The exit code is the one of what it started. */
export function up(context: Context, args: readonly string[]): Promise<number> {
  const start = join(repositoryRoot, 'deploy', 'embedded', 'bootstrap', 'start.mjs');
  if (!existsSync(start)) {
    say(context, `${start} is missing: run this from a complete checkout of Headway`);
    return Promise.resolve(exitCodes.unavailable);
  }
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [start, ...args], { cwd: repositoryRoot, stdio: 'inherit' });
    // The terminal's signals reach both; those that only this process gets are passed on. The child decides when it ends.
    const pass = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal);
    };
    const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, pass);
    child.on('error', (error) => {
      say(context, `it could not be started: ${error.message}`);
      resolve(exitCodes.unavailable);
    });
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

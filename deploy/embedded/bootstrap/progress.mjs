// What the set-up says while it works: one line per step on stderr, and a sign of life where a step takes long.
import { spawn } from 'node:child_process';

const SIGN_OF_LIFE_MS = 10_000;
const KEPT_OUTPUT_CHARACTERS = 200_000;

/** A failure whose message already says what to do; it is printed without a stack. */
export class SetupError extends Error {}

export function say(line) {
  process.stderr.write(`headway: ${line}\n`);
}

/** Runs `work`, telling every ten seconds that `what` is still going on. */
export async function withSignOfLife(what, work) {
  const begun = Date.now();
  const timer = setInterval(
    () => say(`  still ${what} (${Math.round((Date.now() - begun) / 1000)} s)`),
    SIGN_OF_LIFE_MS,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Runs a command to its end.
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, uid?: number, gid?: number, show?: boolean, timeoutMs?: number}} options
 *   `show` passes its output on to stderr as it comes.
 * @returns {Promise<{code: number, output: string}>} code 127 where it could not be started, 124 where it took longer than `timeoutMs`;
 *   `output` is stdout and stderr together, its last 200,000 characters.
 */
export function run(command, args, options = {}) {
  const { show = false, timeoutMs, ...spawnOptions } = options;
  return new Promise((resolve) => {
    let output = '';
    let late = false;
    const child = spawn(command, args, { ...spawnOptions, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            late = true;
            child.kill('SIGKILL');
          }, timeoutMs);
    const take = (chunk) => {
      if (show) process.stderr.write(chunk);
      output = (output + chunk).slice(-KEPT_OUTPUT_CHARACTERS);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ code: 127, output: `${output}${error.message}\n` });
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: late ? 124 : (code ?? 1), output });
    });
  });
}

/** The last lines of a command's output, indented, for an error message. */
export function lastLines(output, count = 15) {
  return output
    .trimEnd()
    .split('\n')
    .slice(-count)
    .map((line) => `    ${line}`)
    .join('\n');
}

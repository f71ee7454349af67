// Runs one child in this process' place: same terminal, signals passed on, same exit code.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * The child gets an IPC channel, by whose end it learns that this process was killed, and a process group of its own, so that a Ctrl-C at
 * the terminal reaches it once, from here.
 * @returns {Promise<number>} its exit code; 128 + the signal's number where a signal ended it.
 */
export function runForeground(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true });
    for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

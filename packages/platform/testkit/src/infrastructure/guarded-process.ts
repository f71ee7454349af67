import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * Starts the server, tells its pid, and ends it when standard input closes. Input is a pipe that only the test process
 * holds, so it closes however that process dies, by SIGKILL too. $1 is the signal that ends the server.
 */
const GUARD = `
signal=$1; shift
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
( read -r never <&3; kill -s "$signal" "$server" ) >/dev/null 2>&1 &
watch=$!
exec 3<&-
trap '' INT HUP TERM
echo "headway-guard pid $server"
wait "$server"
code=$?
kill -KILL "$watch"
exit "$code"
`;

const OUTPUT_LINES = 200;

export interface GuardedProcess {
  /** Of the server itself, not of its guard. */
  readonly pid: number;
  /** The last lines the server wrote to either stream. */
  output(): string;
  readonly running: boolean;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when the server has ended, for whatever reason. */
  readonly ended: Promise<number>;
}

export interface GuardedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Name without SIG; how the server is ended when this process goes away. */
  readonly endSignal?: 'KILL' | 'QUIT' | 'TERM';
}

/** Starts a server that cannot outlive this process. */
export async function startGuarded(options: GuardedOptions): Promise<GuardedProcess> {
  const { command, args, cwd, user, env = process.env, endSignal = 'KILL' } = options;
  const guard = spawn('/bin/sh', ['-c', GUARD, 'headway-guard', endSignal, command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
  });
  guard.stdin.on('error', () => {});
  const lines: string[] = [];
  let running = true;
  const ended = new Promise<number>((resolve) => {
    guard.once('exit', (code) => {
      running = false;
      guard.stdin.destroy();
      resolve(code ?? -1);
    });
  });
  const pid = await new Promise<number>((resolve, reject) => {
    guard.once('error', reject);
    const take = (line: string) => {
      const told = /^headway-guard pid (\d+)$/.exec(line)?.[1];
      if (told !== undefined) resolve(Number(told));
      else if (lines.push(line) > OUTPUT_LINES) lines.shift();
    };
    createInterface(guard.stdout).on('line', take);
    createInterface(guard.stderr).on('line', take);
    void ended.then((code) => reject(new Error(`${command} ended with ${code} at once:\n${lines.join('\n')}`)));
  });
  // A test process that is done must be able to end though its server runs: the guard then ends the server.
  guard.unref();
  for (const stream of [guard.stdin, guard.stdout, guard.stderr]) (stream as unknown as { unref(): void }).unref();
  return {
    pid,
    output: () => lines.join('\n'),
    get running() {
      return running;
    },
    signal(signal) {
      if (running) process.kill(pid, signal);
    },
    get ended() {
      // Who waits for the end must not end first.
      guard.ref();
      return ended;
    },
  };
}

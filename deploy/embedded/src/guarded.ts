import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { until } from './waiting.ts';

/**
 * Runs a command and ends it when this shell's standard input closes, which also happens when the process that started it was killed.
 * The command gets the same standard input; nothing is ever written to it. $1 asks it to end, $2 is how many times 0.2 s it is waited for
 * before it is killed. Once it ends the server, the watcher is waited for instead of ended, so that it leaves no sleep behind. The command runs in the background of a shell without job control, which is why it is in this shell's process group.
 */
const GUARD = `
signal=$1; patience=$2; shift 2
exec 9<&0
"$@" <&9 9<&- &
server=$!
exec 3>&-
(
  while read -r _ <&9; do :; done
  trap '' TERM
  kill -s "$signal" "$server" 2>/dev/null
  while [ "$patience" -gt 0 ] && kill -0 "$server" 2>/dev/null; do sleep 0.2; patience=$((patience - 1)); done
  kill -s KILL "$server" 2>/dev/null
) &
watcher=$!
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$code"
`;

export interface GuardedOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** User and group id to run as. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Asks the command to end in good order. */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT';
  /** How long it is waited for after that before it is killed. */
  readonly patienceMs?: number;
  /** Opens an IPC channel, by whose end a Node process learns that this process is gone. */
  readonly ipc?: boolean;
}

export interface Exit {
  readonly code: number;
}

/** A command under guard. It and all it starts are one process group, whose id is `group`. */
export interface Guarded {
  readonly group: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<Exit>;
  readonly running: () => boolean;
  /** Asks it to end, and kills it where it does not; settles once it is gone. */
  stop(): Promise<void>;
  /** Kills the whole group at once. */
  kill(): void;
}

const STEPS_PER_SECOND = 5;
const DEFAULT_PATIENCE_MS = 10_000;

const GROUP_GONE_MS = 5_000;

/** Whether any process of a group is left. */
export function groupLives(group: number | undefined): boolean {
  if (group === undefined) return false;
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: 127 }));
    child.once('exit', (code) => resolve({ code: code ?? 137 }));
  });
}

export function startGuarded(command: string, args: readonly string[], options: GuardedOptions = {}): Guarded {
  const signal = (options.stopSignal ?? 'SIGTERM').slice(3);
  const patience = Math.ceil(((options.patienceMs ?? DEFAULT_PATIENCE_MS) / 1000) * STEPS_PER_SECOND);
  const child = spawn('/bin/sh', ['-c', GUARD, 'headway-guard', signal, String(patience), command, ...args], {
    cwd: options.cwd ?? '/',
    env: options.env ?? process.env,
    ...options.user,
    detached: true,
    stdio: options.ipc === true ? ['pipe', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe'],
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('a guarded child has no pipes');
  stdin.on('error', () => {});
  child.on('error', () => {});
  let running = true;
  const exited = exitOf(child);
  void exited.then(() => {
    running = false;
    stdin.destroy();
  });
  return {
    group: child.pid ?? -1,
    stdout,
    stderr,
    exited,
    running: () => running,
    async stop() {
      stdin.end();
      stdin.destroy();
      await exited;
      // The guard's own watcher ends a moment after it.
      await until(() => (groupLives(child.pid) ? undefined : true), GROUP_GONE_MS);
    },
    kill() {
      if (child.pid === undefined || !running) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group is gone already.
      }
    },
  };
}

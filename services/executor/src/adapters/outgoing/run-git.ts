import { spawn } from 'node:child_process';

/** What is read of git's output at most, in bytes; then it is ended. */
export const GIT_OUTPUT_BYTES = 64 * 1024;
const REASON_CHARACTERS = 300;

export interface GitRan {
  /** `null` = it could not be run, was ended by its time, or said too much. */
  readonly code: number | null;
  readonly stdout: string;
  /** Why it failed, for people; without credentials. */
  readonly reason: string;
}

export interface GitPlace {
  /** The local repository it runs in. */
  readonly source: string;
  readonly remote: string;
  /** A header for http(s) remotes, with the credential. */
  readonly header?: string | undefined;
}

/** Settings that no repository or machine may change. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['credential.helper', ''],
  ['http.followRedirects', 'false'],
  ['push.followTags', 'false'],
  ['gc.auto', '0'],
];

/**
 * Runs git with no prompt, no settings of the machine or user, no helper and no protocol but the remote's own. It ends with
 * all its children when the signal aborts.
 */
export function runGit(place: GitPlace, args: readonly string[], signal: AbortSignal): Promise<GitRan> {
  const settings = place.header === undefined ? SETTINGS : [...SETTINGS, ['http.extraHeader', place.header] as const];
  // In the environment, not among the arguments, which every process of the machine may read.
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: place.remote.slice(0, place.remote.indexOf(':')),
    GIT_CONFIG_COUNT: String(settings.length),
  };
  for (const [at, [name, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = name;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ code: null, stdout: '', reason: 'the time was over' });
    const child = spawn('git', ['--git-dir', place.source, ...args], {
      env,
      // A group of its own, so that its helpers end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '', bytes: 0 };
    let ended: string | null = null;
    const end = (why: string) => {
      ended ??= why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const onAbort = () => end('no complete answer in time');
    signal.addEventListener('abort', onAbort, { once: true });
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        output.bytes += chunk.byteLength;
        if (output.bytes > GIT_OUTPUT_BYTES) end(`git said more than ${GIT_OUTPUT_BYTES} bytes`);
        else output[name] += chunk.toString('utf8');
      });
    const settle = (code: number | null, why: string) => {
      signal.removeEventListener('abort', onAbort);
      resolve({ code: ended === null ? code : null, stdout: output.stdout, reason: redacted(ended ?? why, place) });
    };
    child.once('error', (error) => settle(null, `git cannot be run: ${error.message}`));
    child.once('close', (code) => settle(code, output.stderr.trim() || `git ended with ${code}`));
  });
}

/** The user part of an address and the header never leave this process. */
function redacted(text: string, { header }: GitPlace): string {
  const value = header?.slice(header.indexOf(':') + 1).trim();
  const parts = value === undefined ? [] : [value, ...value.split(' ').filter((part) => part.length >= 8)];
  let shown = text.replace(/(\w+:\/\/)[^\s/@]+@/g, '$1');
  for (const part of parts) shown = shown.replaceAll(part, '[redacted]');
  return shown.slice(-REASON_CHARACTERS);
}

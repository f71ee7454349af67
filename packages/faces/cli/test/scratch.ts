import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** Shared, so that each process need not compile anew. */
const compiled = join(tmpdir(), `headway-cli-tests-${process.pid}`);
const folders: string[] = [compiled];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'headway-cli-')));
  folders.push(folder);
  return folder;
}

/** A real git repository with one commit on `main`. */
export function scratchRepository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\n' }) {
  const root = scratchFolder();
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim();
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  git('init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) write(path, content);
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return {
    root,
    git,
    write,
    commit: (message = 'next') => {
      git('add', '-A');
      git('commit', '-q', '-m', message);
    },
  };
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The last line of standard error as JSON. */
  readonly summary: () => Record<string, any>;
}

/** The command line as a real process, with a state folder and an environment of its own. */
export function headway(options: { cwd?: string; url?: string; state: string; env?: NodeJS.ProcessEnv }) {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: options.state,
    XDG_STATE_HOME: options.state,
    XDG_CACHE_HOME: compiled,
  };
  env.HEADWAY_URL = options.url ?? 'http://127.0.0.1:9';
  Object.assign(env, options.env);
  const cwd = options.cwd ?? options.state;
  const start = (...args: string[]) =>
    spawn(process.execPath, [main, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const run = (args: readonly string[], input: string | Uint8Array = ''): Promise<Ran> =>
    new Promise((resolve, reject) => {
      const child = start(...args);
      const stdout: Buffer[] = [];
      const stderr: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      child.on('error', reject);
      child.on('close', (code) => {
        const said = Buffer.concat(stderr);
        const summary = () => JSON.parse(said.toString().trimEnd().split('\n').at(-1) ?? '') as Record<string, any>;
        resolve({ code, stdout: Buffer.concat(stdout), stderr: said, summary });
      });
    });
  return { run, start };
}

import { execFile } from 'node:child_process';
import { ok, type Result, refused } from '@headway/kernel';
import { cliLimits } from '../limits.ts';

export type Git = (args: readonly string[], input?: string) => Promise<Result<string, string>>;

/** Nothing may be written or started: no index refresh, no locks, no file system monitor, no fetching of objects. */
const quiet = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false', '-c', 'gc.auto=0'];

/** Variables by which a caller (a git hook, say) points git at another repository or index. */
const strays = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_OBJECT_DIRECTORY',
  'GIT_NAMESPACE',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_TRACE',
];

/** Git in a folder, answering with its output or with one line that says why there is none. */
export function gitIn(folder: string, environment: NodeJS.ProcessEnv): Git {
  const env: NodeJS.ProcessEnv = { ...environment, GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  for (const name of strays) delete env[name];
  return (args, input) =>
    new Promise((resolve) => {
      const options = {
        cwd: folder,
        env,
        maxBuffer: cliLimits.gitBytes,
        timeout: cliLimits.gitMs,
        encoding: 'utf8',
      } as const;
      const child = execFile('git', [...quiet, ...args], options, (error, stdout, stderr) => {
        if (error === null) resolve(ok(stdout));
        else resolve(refused(whyNot(error, stderr, args[0] ?? '')));
      });
      child.stdin?.on('error', () => {});
      child.stdin?.end(input ?? '');
    });
}

function whyNot(error: Error & { code?: unknown; killed?: boolean }, stderr: string, command: string): string {
  if (error.code === 'ENOENT') return 'git is not installed, or the folder is gone';
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return `git ${command} said more than ${cliLimits.gitBytes} bytes`;
  if (error.killed === true) return `git ${command} took longer than ${cliLimits.gitMs} ms`;
  const said = stderr.trim().split('\n')[0] ?? '';
  return said === '' ? `git ${command} ended with ${String(error.code)}` : said.replace(/^fatal: /, '');
}

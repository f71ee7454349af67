import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Diff, limits, UNCHANGED_DIFF } from '@headway/contracts';
import { digest, ok, type Result, refused } from '@headway/kernel';
import { cliLimits } from '../limits.ts';
import { type Git, gitIn } from './run-git.ts';

/**
 * The change of a work tree against a base revision: committed, staged, unstaged and untracked as one. Without what git
 * ignores, nested repositories and paths outside the tree. The same content has the same state, committed or not.
 *
 * Reads only: the index, the object store and every file stay as they are. A failure is one line that says why the state
 * cannot be observed.
 *
 * A file's hash is its blob id in git (with `:mode` behind it unless it is a plain file), `null` = deleted.
 */
export async function diffState(
  root: string,
  base: string,
  environment: NodeJS.ProcessEnv,
): Promise<Result<Diff, string>> {
  const git = gitIn(root, environment);
  const listed = await changedFiles(root, git, base);
  if (!listed.ok) return listed;
  const files = listed.value.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (files.length === 0) return ok({ hash: UNCHANGED_DIFF, files: [], added: 0, removed: 0 });
  const lines = await countLines(root, git, base, files);
  if (!lines.ok) return lines;
  const hash = digest('diff-state', ...files.flatMap(({ path, hash }) => [path, hash]));
  const shown = files.map(({ path, hash }) => ({ path, hash }));
  const listable =
    shown.length <= limits.files &&
    shown.every(({ path }) => path.length <= limits.name) &&
    Buffer.byteLength(JSON.stringify(shown)) <= cliLimits.fileListBytes;
  return ok({ hash, ...(listable ? { files: shown } : {}), ...lines.value });
}

/** The top of the work tree that a folder is in. */
export async function workTreeOf(folder: string, environment: NodeJS.ProcessEnv): Promise<Result<string, string>> {
  const answer = await gitIn(folder, environment)(['rev-parse', '--show-toplevel']);
  if (!answer.ok)
    return /not a git repository|work tree/.test(answer.failure) ? refused('not a git work tree') : answer;
  return ok(answer.value.replace(/\n$/, ''));
}

interface Changed {
  readonly path: string;
  readonly hash: string | null;
  readonly untracked: boolean;
}

/** A file that differs from the base, before its content is hashed. */
interface Candidate {
  readonly path: string;
  readonly before: string | null;
  readonly untracked: boolean;
}

async function changedFiles(root: string, git: Git, base: string): Promise<Result<Changed[], string>> {
  const tracked = await git([
    'diff-index',
    '--raw',
    '-z',
    '--no-renames',
    '--no-abbrev',
    '--ignore-submodules=none',
    base,
    '--',
  ]);
  if (!tracked.ok) return tracked;
  const untracked = await git(['ls-files', '-z', '--others', '--exclude-standard']);
  if (!untracked.ok) return untracked;
  const candidates = new Map<string, Candidate>();
  const submodules: Submodule[] = [];
  for (const entry of rawEntries(tracked.value)) {
    if (entry.submodule) submodules.push(entry);
    else candidates.set(entry.path, { path: entry.path, before: entry.before, untracked: false });
  }
  for (const path of untracked.value.split('\0')) {
    // A trailing slash is a repository of its own inside this one: not this work tree's content.
    if (path === '' || path.endsWith('/')) continue;
    candidates.set(path, { path, before: candidates.get(path)?.before ?? null, untracked: !candidates.has(path) });
  }
  if (candidates.size > cliLimits.changedFiles)
    return refused(
      `more than ${cliLimits.changedFiles} changed files (ignore what is generated, or name a nearer --base)`,
    );
  const hashed = await hashFiles(root, git, [...candidates.values()]);
  if (!hashed.ok) return hashed;
  const modules = await readSubmodules(root, git, submodules);
  return modules.ok ? ok([...hashed.value, ...modules.value]) : modules;
}

interface Submodule {
  readonly path: string;
  readonly before: string | null;
}
interface RawEntry extends Submodule {
  readonly submodule: boolean;
}

/** Entries of `diff-index --raw -z`: `:mode mode id id status`, then the path. An unmerged path may come twice. */
function* rawEntries(text: string): Generator<RawEntry> {
  const parts = text.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [modeBefore, modeAfter, idBefore] = (parts[at] as string).slice(1).split(' ');
    const before = /^0*$/.test(idBefore ?? '') ? null : withMode(idBefore as string, modeBefore as string);
    yield { path: parts[at + 1] as string, before, submodule: modeBefore === SUBMODULE || modeAfter === SUBMODULE };
  }
}

const PLAIN = '100644';
const EXECUTABLE = '100755';
const LINK = '120000';
const SUBMODULE = '160000';
const withMode = (id: string, mode: string): string => (mode === PLAIN ? id : `${id}:${mode}`);

async function hashFiles(root: string, git: Git, candidates: readonly Candidate[]): Promise<Result<Changed[], string>> {
  const changed: Changed[] = [];
  const plain: { candidate: Candidate; mode: string }[] = [];
  const keep = ({ path, before, untracked }: Candidate, hash: string | null): void => {
    if (hash !== before) changed.push({ path, hash, untracked });
  };
  const format = await git(['rev-parse', '--show-object-format']);
  const fileMode = await honoursModes(git);
  let bytes = 0;
  for (const candidate of candidates) {
    const path = join(root, candidate.path);
    const stat = await lstat(path).catch(() => null);
    if (stat === null || stat.isDirectory()) keep(candidate, null);
    else if (stat.isSymbolicLink()) keep(candidate, withMode(blobId(Buffer.from(await readlink(path)), format), LINK));
    else if (stat.isFile()) {
      bytes += stat.size;
      const executable = fileMode ? (stat.mode & 0o100) !== 0 : (candidate.before?.endsWith(EXECUTABLE) ?? false);
      plain.push({ candidate, mode: executable ? EXECUTABLE : PLAIN });
    } else return refused(`${candidate.path} is neither a file nor a link`);
  }
  if (bytes > cliLimits.changedBytes)
    return refused(`more than ${cliLimits.changedBytes} bytes of changed files (ignore what is generated)`);
  if (plain.length === 0) return ok(changed);
  const ids = await git(
    ['hash-object', '--stdin-paths'],
    plain.map(({ candidate }) => quoted(candidate.path)).join('\n'),
  );
  if (!ids.ok) return refused(`a file changed while it was read: ${ids.failure}`);
  const each = ids.value.trimEnd().split('\n');
  if (each.length !== plain.length) return refused('a file changed while it was read');
  for (const [index, { candidate, mode }] of plain.entries()) keep(candidate, withMode(each[index] as string, mode));
  return ok(changed);
}

const honoursModes = async (git: Git): Promise<boolean> => {
  const answer = await git(['config', '--type=bool', 'core.fileMode']);
  return !answer.ok || answer.value.trim() === 'true';
};

function blobId(content: Buffer, format: Result<string, string>): string {
  const algorithm = format.ok && format.value.trim() === 'sha256' ? 'sha256' : 'sha1';
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** As `hash-object --stdin-paths` reads it: one path a line, quoted where it must be. */
const quoted = (path: string): string =>
  /^"|[\n\\]/.test(path) ? `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;

/** A submodule is as its checked-out commit is; changes inside that are not committed there cannot be told. */
async function readSubmodules(
  root: string,
  git: Git,
  submodules: readonly Submodule[],
): Promise<Result<Changed[], string>> {
  const changed: Changed[] = [];
  for (const { path, before } of submodules) {
    const stat = await lstat(join(root, path)).catch(() => null);
    if (stat === null || !stat.isDirectory()) {
      changed.push({ path, hash: null, untracked: false });
      continue;
    }
    const head = await git(['-C', path, 'rev-parse', '--verify', '--quiet', 'HEAD']);
    const status = await git(['-C', path, 'status', '--porcelain', '-z']);
    if (!head.ok || !status.ok) return refused(`the submodule ${path} cannot be read`);
    if (status.value !== '') return refused(`the submodule ${path} has changes that are not committed in it`);
    const hash = withMode(head.value.trim(), SUBMODULE);
    if (hash !== before) changed.push({ path, hash, untracked: false });
  }
  return ok(changed);
}

async function countLines(
  root: string,
  git: Git,
  base: string,
  files: readonly Changed[],
): Promise<Result<{ added: number; removed: number }, string>> {
  const tracked = await git([
    'diff-index',
    '--numstat',
    '-z',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--ignore-submodules=all',
    base,
    '--',
  ]);
  if (!tracked.ok) return tracked;
  const counted = new Map<string, readonly [number, number]>();
  for (const row of tracked.value.split('\0')) {
    const [added, removed, path] = row.split('\t');
    if (path !== undefined && added !== '-') counted.set(path, [Number(added), Number(removed)]);
  }
  let added = 0;
  let removed = 0;
  for (const file of files) {
    const [more, less] = file.untracked
      ? [await linesOf(join(root, file.path)), 0]
      : (counted.get(file.path) ?? [0, 0]);
    added += more;
    removed += less;
  }
  return ok({ added, removed });
}

/** Lines as git counts them: none in a binary file, one for an unfinished last line. */
async function linesOf(path: string): Promise<number> {
  const content = await readFile(path).catch(() => Buffer.alloc(0));
  if (content.length === 0 || content.subarray(0, 8_000).includes(0)) return 0;
  let lines = content.at(-1) === 0x0a ? 0 : 1;
  for (let at = content.indexOf(0x0a); at !== -1; at = content.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

import type { Git } from './run-git.ts';

/** The revision that a work's change is measured against, and why this one. */
export interface Base {
  readonly revision: string;
  readonly from: 'option' | 'environment' | 'claim' | 'default branch' | 'first seen' | 'empty tree';
  /** Nothing better was known: remember it, so that a commit of the same change does not move the base. */
  readonly remember: boolean;
}

/**
 * Which revision is the base. A base has to stay where it is while the work goes on, or committing would look like
 * undoing. In this order:
 *
 * 1. what was said: `--base`, `HEADWAY_BASE`;
 * 2. what the work's claim recorded, or the first gate of the work in this work tree, as long as it is an ancestor of
 *    HEAD (after a rebase or on another branch it is not, and a new one is found);
 * 3. on a branch other than the default one: where it left the default branch. The branch's own upstream is not used: it
 *    moves with every push;
 * 4. else HEAD as it is now, which is then remembered for the work.
 *
 * In a repository without commits it is the empty tree, which is not remembered.
 */
export async function chooseBase(
  git: Git,
  said: { readonly option?: string | undefined; readonly environment?: string | undefined },
  known: { readonly revision: string; readonly from: 'claim' | 'first seen' } | null,
): Promise<Base | { readonly reason: string }> {
  for (const [from, name] of [
    ['option', said.option],
    ['environment', said.environment],
  ] as const) {
    if (name === undefined || name === '') continue;
    const revision = await commitOf(git, name);
    return revision === null ? { reason: `the base ${name} is no commit here` } : { revision, from, remember: false };
  }
  const head = await commitOf(git, 'HEAD');
  if (head === null) {
    const empty = await git(['hash-object', '-t', 'tree', '--stdin']);
    return empty.ok ? { revision: empty.value.trim(), from: 'empty tree', remember: false } : { reason: empty.failure };
  }
  if (known !== null && (await git(['merge-base', '--is-ancestor', known.revision, head])).ok)
    return { revision: known.revision, from: known.from, remember: false };
  const forked = await forkPoint(git, head);
  if (forked !== null) return { revision: forked, from: 'default branch', remember: false };
  return { revision: head, from: 'first seen', remember: true };
}

export async function commitOf(git: Git, name: string): Promise<string | null> {
  if (name.startsWith('-')) return null;
  const answer = await git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return answer.ok ? answer.value.trim() : null;
}

/** The branch that is checked out, `null` when detached. */
export async function currentBranch(git: Git): Promise<string | null> {
  const answer = await git(['symbolic-ref', '--quiet', '--short', 'HEAD']);
  return answer.ok ? answer.value.trim() : null;
}

async function forkPoint(git: Git, head: string): Promise<string | null> {
  const branch = await currentBranch(git);
  const main = await defaultBranch(git);
  if (main === null || branch === null || main.name === branch) return null;
  const base = await git(['merge-base', head, main.ref]);
  return base.ok ? (base.value.trim().split('\n')[0] ?? null) : null;
}

async function defaultBranch(git: Git): Promise<{ name: string; ref: string } | null> {
  const remote = await git(['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']);
  if (remote.ok) {
    const ref = remote.value.trim();
    return { name: ref.replace(/^origin\//, ''), ref: `refs/remotes/${ref}` };
  }
  for (const name of ['main', 'master', 'trunk'])
    for (const ref of [`refs/heads/${name}`, `refs/remotes/origin/${name}`])
      if ((await commitOf(git, ref)) !== null) return { name, ref };
  return null;
}

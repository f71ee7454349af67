import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { UNCHANGED_DIFF } from '@headway/contracts';
import { describe, expect, test } from 'vitest';
import { chooseBase } from '../src/git/base.ts';
import { diffState, workTreeOf } from '../src/git/diff-state.ts';
import { gitIn } from '../src/git/run-git.ts';
import { scratchFolder, scratchRepository } from './scratch.ts';

const state = async (root: string, base: string) => {
  const read = await diffState(root, base, process.env);
  if (!read.ok) throw new Error(read.failure);
  return read.value;
};

/** Everything under a folder: path, size, content and modification time. */
function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) return path;
      return `${path} ${statSync(path).mtimeMs} ${readFileSync(path).toString('base64')}`;
    })
    .sort();
}

describe('the diff state of a work tree', () => {
  test('is the fixed one where nothing differs from the base, even when only times do', async () => {
    const { root, git } = scratchRepository();
    expect(await state(root, 'HEAD')).toEqual({ hash: UNCHANGED_DIFF, files: [], added: 0, removed: 0 });
    utimesSync(join(root, 'a.txt'), 1, 1);
    expect((await state(root, git('rev-parse', 'HEAD'))).hash).toBe(UNCHANGED_DIFF);
  });

  test('is the same untracked, staged and committed; and comes back when the change does', async () => {
    const { root, git, write, commit } = scratchRepository();
    const base = git('rev-parse', 'HEAD');
    write('a.txt', 'one\n2\n');
    write('new/b.txt', 'x\ny');
    const unstaged = await state(root, base);
    expect(unstaged).toMatchObject({ added: 3, removed: 1 });
    expect(unstaged.files?.map((file) => file.path)).toEqual(['a.txt', 'new/b.txt']);
    git('add', '-A');
    expect(await state(root, base)).toEqual(unstaged);
    commit();
    expect(await state(root, base)).toEqual(unstaged);
    write('a.txt', 'one\n3\n');
    expect((await state(root, base)).hash).not.toBe(unstaged.hash);
    write('a.txt', 'one\n2\n');
    expect(await state(root, base)).toEqual(unstaged);
  });

  test('sees what is staged only as far as the work tree has it', async () => {
    const { root, git, write } = scratchRepository();
    write('a.txt', 'staged\n');
    git('add', 'a.txt');
    write('a.txt', 'one\ntwo\n');
    expect((await state(root, 'HEAD')).hash).toBe(UNCHANGED_DIFF);
  });

  test('tells deleted, executable and linked files, and strange names', async () => {
    const { root, git, write, commit } = scratchRepository({ 'a.txt': 'a\n', 'b.sh': 'b\n', 'c.txt': 'c\n' });
    const base = git('rev-parse', 'HEAD');
    rmSync(join(root, 'a.txt'));
    chmodSync(join(root, 'b.sh'), 0o755);
    rmSync(join(root, 'c.txt'));
    symlinkSync('nowhere', join(root, 'c.txt'));
    write('line\nbreak "quoted" \\ größe.txt', 'x\n');
    write('"first', 'y\n');
    const before = await state(root, base);
    expect(before.files?.find((file) => file.path === 'a.txt')).toEqual({ path: 'a.txt', hash: null });
    expect(before.files).toHaveLength(5);
    commit();
    expect(await state(root, base)).toEqual(before);
  });

  test('leaves out what git ignores, nested repositories and their content', async () => {
    const { root, git, write } = scratchRepository({ '.gitignore': 'out/\n' });
    write('out/report.txt', 'x');
    write('inner/file.txt', 'x');
    git('init', '-q', 'inner');
    expect((await state(root, 'HEAD')).hash).toBe(UNCHANGED_DIFF);
  });

  test('changes nothing: index, objects and files stay as they are, byte and time', async () => {
    const { root, git, write } = scratchRepository();
    write('a.txt', 'changed\n');
    write('staged.txt', 'x\n');
    git('add', 'staged.txt');
    write('untracked.txt', 'y\n');
    utimesSync(join(root, 'staged.txt'), 5, 5);
    const before = snapshot(root);
    const status = git('--no-optional-locks', 'status', '--porcelain');
    await state(root, 'HEAD');
    expect(snapshot(root)).toEqual(before);
    expect(git('--no-optional-locks', 'status', '--porcelain')).toBe(status);
  });

  test('works in a merge with conflicts, in a linked work tree and without any commit', async () => {
    const { root, git, write, commit } = scratchRepository();
    const base = git('rev-parse', 'HEAD');
    git('checkout', '-q', '-b', 'side');
    write('a.txt', 'side\n');
    commit();
    git('checkout', '-q', 'main');
    write('a.txt', 'main\n');
    commit();
    expect(() => git('merge', 'side')).toThrow();
    expect((await state(root, base)).files?.map((file) => file.path)).toEqual(['a.txt']);
    git('merge', '--abort');
    const linked = join(scratchFolder(), 'tree');
    git('worktree', 'add', '-q', linked, 'side');
    expect((await state(linked, base)).files).toHaveLength(1);
    const empty = scratchFolder();
    const gitThere = gitIn(empty, process.env);
    await gitThere(['init', '-q']);
    const chosen = await chooseBase(gitThere, {}, null);
    expect(chosen).toMatchObject({ from: 'empty tree', remember: false });
    if ('revision' in chosen) expect((await state(empty, chosen.revision)).hash).toBe(UNCHANGED_DIFF);
  });

  test('is not observable outside a work tree, and with changes inside a submodule', async () => {
    expect(await workTreeOf(scratchFolder(), process.env)).toEqual({ ok: false, failure: 'not a git work tree' });
    const inner = scratchRepository();
    const { root, git, write, commit } = scratchRepository();
    git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.root, 'module');
    commit();
    expect((await state(root, 'HEAD')).hash).toBe(UNCHANGED_DIFF);
    write('module/a.txt', 'changed\n');
    expect(await diffState(root, 'HEAD', process.env)).toEqual({
      ok: false,
      failure: 'the submodule module has changes that are not committed in it',
    });
  });
});

describe('the base', () => {
  const choose = (root: string, known: Parameters<typeof chooseBase>[2] = null, said = {}) =>
    chooseBase(gitIn(root, process.env), said, known);

  test('is what was said, by option before environment', async () => {
    const { root, git, write, commit } = scratchRepository();
    const first = git('rev-parse', 'HEAD');
    write('a.txt', 'x');
    commit();
    expect(await choose(root, null, { option: first, environment: 'HEAD' })).toMatchObject({
      revision: first,
      from: 'option',
    });
    expect(await choose(root, null, { environment: 'HEAD~1' })).toMatchObject({ revision: first, from: 'environment' });
    expect(await choose(root, null, { option: 'nothing-like-it' })).toEqual({
      reason: 'the base nothing-like-it is no commit here',
    });
  });

  test('on another branch is where it left the default branch, and stays there when the change is committed', async () => {
    const { root, git, write, commit } = scratchRepository();
    const fork = git('rev-parse', 'HEAD');
    git('checkout', '-q', '-b', 'feature');
    expect(await choose(root)).toMatchObject({ revision: fork, from: 'default branch', remember: false });
    write('a.txt', 'x');
    commit();
    expect(await choose(root)).toMatchObject({ revision: fork });
  });

  test('on the default branch is the HEAD of the first time, as long as it is an ancestor', async () => {
    const { root, git, write, commit } = scratchRepository();
    const first = git('rev-parse', 'HEAD');
    expect(await choose(root)).toEqual({ revision: first, from: 'first seen', remember: true });
    write('a.txt', 'x');
    commit();
    expect(await choose(root, { revision: first, from: 'first seen' })).toMatchObject({ revision: first });
    git('checkout', '-q', '--orphan', 'elsewhere');
    commit();
    git('branch', '-q', '-D', 'main');
    expect(await choose(root, { revision: first, from: 'claim' })).toMatchObject({
      from: 'first seen',
      remember: true,
    });
  });
});

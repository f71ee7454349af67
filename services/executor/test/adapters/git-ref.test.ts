import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '@headway/testkit';
import { describe, expect, it } from 'vitest';
import { createGitRefAdapter } from '../../src/adapters/git-ref.ts';
import { describeAdapter } from './conformance.ts';

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@localhost'];
const git = (...args: string[]) => execFileSync('git', [...IDENTITY, ...args], { encoding: 'utf8' }).trim();

/** A bare repository behind git's own server on loopback, and a source that holds two commits. */
async function startRemote() {
  const folder = await mkdtemp(join(tmpdir(), 'headway-git-'));
  const source = join(folder, 'source.git');
  const bare = join(folder, 'remote.git');
  for (const path of [source, bare]) git('init', '-q', '--bare', path);
  const tree = git('--git-dir', source, 'mktree', '--missing');
  const commit = (text: string, ...parents: string[]) =>
    git('--git-dir', source, 'commit-tree', tree, '-m', text, ...parents.flatMap((parent) => ['-p', parent]));
  const old = commit('old');
  const wanted = commit('new', old);
  git('--git-dir', source, 'push', '-q', bare, `${old}:refs/heads/base`);
  const port = await freePort();
  const args = [
    '--listen=127.0.0.1',
    `--port=${port}`,
    `--base-path=${folder}`,
    '--export-all',
    '--enable=receive-pack',
  ];
  const daemon = spawn(join(git('--exec-path'), 'git-daemon'), ['--reuseaddr', ...args, folder], { stdio: 'ignore' });
  await eventually(
    async () => {
      const socket = dial(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
      return true;
    },
    { what: 'git daemon to listen', within: 20_000 },
  );
  const hook = (name: string, text: string) =>
    writeFile(join(bare, 'hooks', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return {
    folder,
    bare,
    source,
    old,
    wanted,
    hook,
    unhook: async () => {
      for (const name of ['pre-receive', 'reference-transaction']) await rm(join(bare, 'hooks', name), { force: true });
    },
    listed: { name: 'main', remote: `git://127.0.0.1:${port}/remote.git`, source },
    refOf: (ref: string) => {
      try {
        return git('--git-dir', bare, 'rev-parse', '--verify', '-q', ref);
      } catch {
        return null;
      }
    },
    stop: async () => {
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

for (const write of ['create', 'move'] as const)
  describeAdapter(`git.ref, ${write}`, { class: 'C' }, async () => {
    const remote = await startRemote();
    const deaf = { ...remote.listed, name: 'deaf', remote: `git://127.0.0.1:${await freePort()}/remote.git` };
    let repository = 'main';
    let number = 0;
    const away = `${remote.bare}.away`;
    for (let at = 1; at <= 30; at += 1)
      if (write === 'move') git('--git-dir', remote.bare, 'update-ref', `refs/heads/move-${at}`, remote.old);
    const targets = { repositories: [remote.listed, deaf], timeoutMs: 20_000, processingSeconds: 0 };
    const bad = (target: string) => ({ request: { target, inputs: { to: remote.wanted } }, pointer: '/target' });
    return {
      adapter: createGitRefAdapter(targets) as never,
      fresh: () => {
        number += 1;
        const inputs = { to: remote.wanted, ...(write === 'move' ? { expect: remote.old } : {}) };
        return { target: `${repository}/refs/heads/${write}-${number}`, inputs };
      },
      effects: async ({ target }) => (remote.refOf(target.slice(target.indexOf('/') + 1)) === remote.wanted ? 1 : 0),
      malformed: [
        ...['other/refs/heads/x', 'main', 'main/HEAD', 'main/refs/heads/../x', 'main/refs/heads/--upload-pack=x'].map(
          bad,
        ),
        ...[
          'main/refs/heads/a b',
          'main/refs/heads/x.lock',
          'main/refs/heads/a:b',
          'main/refs/heads/x\n',
          'main/refs/heads/',
        ].map(bad),
        ...[
          'main/+refs/heads/x',
          'main/refs/hidden/x',
          'main/refs/heads/a@{1}',
          'main/refs/heads/a//b',
          '--exec=x/refs/heads/x',
        ].map(bad),
        { request: { target: 'main/refs/heads/x', inputs: { to: '--all' } }, pointer: '/inputs/to' },
        { request: { target: 'main/refs/heads/x', inputs: { to: '0'.repeat(40) } }, pointer: '/inputs/to' },
      ],
      faults: {
        unreachable: () => {
          repository = 'deaf';
        },
        // The server's process dies when the ref was moved and before it could say so.
        'answer-lost': () => remote.hook('reference-transaction', '[ "$1" != committed ] || kill -9 $PPID'),
        silent: () => remote.hook('pre-receive', 'exec sleep 3'),
        refuses: () => remote.hook('pre-receive', 'exit 1'),
        'observer-down': () => rename(remote.bare, away),
      },
      heal: async () => {
        repository = 'main';
        await rename(away, remote.bare).catch(() => {});
        await remote.unhook();
      },
      stop: remote.stop,
    };
  });

describe('git.ref, towards a hostile remote', () => {
  it('ends with its time where the remote says nothing, or says things without end', async () => {
    let flood = false;
    let written = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      if (!flood) return;
      const line = Buffer.from(`003f${'a'.repeat(40)} refs/heads/bbbbbbb\n`.padEnd(63, 'b'));
      const more = () => {
        while (!socket.destroyed) {
          written += line.byteLength;
          if (!socket.write(line)) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const folder = await mkdtemp(join(tmpdir(), 'headway-git-'));
    git('init', '-q', '--bare', folder);
    const listed = { name: 'main', remote: `git://127.0.0.1:${port}/x.git`, source: folder };
    const adapter = createGitRefAdapter({ repositories: [listed], timeoutMs: 1_000, processingSeconds: 0 });
    const prepared = adapter.prepare({ target: 'main/refs/heads/x', inputs: { to: 'a'.repeat(40) } });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const attempt = () => ({
      ...{ operation: 'a'.repeat(64), tenant: 'default', plan, epoch: 1, attempt: 1 },
      signal: AbortSignal.timeout(1_000),
    });
    expect(await adapter.send(attempt())).toMatchObject({ answer: 'not-sent', reason: 'no complete answer in time' });
    flood = true;
    expect((await adapter.observe(attempt())).observed).toBe('unknown');
    expect(written).toBeGreaterThan(0);
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
});

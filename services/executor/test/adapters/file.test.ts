import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileAdapter } from '../../src/adapters/file.ts';
import { describeAdapter } from './conformance.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const OPERATION = 'a'.repeat(64);

for (const write of ['create', 'replace'] as const)
  describeAdapter(`file, ${write}`, { class: 'C', never: ['answer-lost', 'silent', 'unreachable'] }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'headway-file-'));
    const blocked = join(folder, 'blocked');
    for (let at = 1; at <= 50; at += 1) await writeFile(join(folder, `replace-${at}`), 'old');
    await writeFile(blocked, 'no folder');
    let within = '';
    let number = 0;
    const adapter = createFileAdapter({ roots: [{ name: 'notes', folder }], timeoutMs: 3_000 });
    return {
      adapter: adapter as never,
      fresh: () => {
        number += 1;
        const inputs = { text: `new ${number}`, ...(write === 'replace' ? { expect: sha256('old') } : {}) };
        return { target: `notes/${within}${write}-${number}`, inputs };
      },
      effects: async ({ target, inputs }) => {
        const text = await readFile(join(folder, target.slice('notes/'.length)), 'utf8').catch(() => null);
        return text === inputs.text ? 1 : 0;
      },
      malformed: [
        ...['other/x', 'notes', 'notes/', 'notes/../x', 'notes/a/../../x', 'notes//x', 'notes/.headway/x', 'notes/a\\b']
          .concat(['notes/a\0b', 'notes/./x', `notes/${'x'.repeat(300)}`, '/etc/passwd'])
          .map((target) => ({ request: { target, inputs: { text: '' } }, pointer: '/target' })),
        { request: { target: 'notes/x', inputs: { text: 1 } }, pointer: '/inputs/text' },
        { request: { target: 'notes/x', inputs: { text: '', expect: 'x' } }, pointer: '/inputs/expect' },
      ],
      faults: {
        refuses: () => {
          within = 'blocked/';
        },
        'observer-down': async () => {
          await rm(folder, { recursive: true });
        },
      },
      heal: async () => {
        within = '';
        await mkdir(folder, { recursive: true });
      },
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  });

describe('file, in a folder that others write to as well', () => {
  let root: string;
  let outside: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'headway-root-'));
    outside = await mkdtemp(join(tmpdir(), 'headway-outside-'));
  });
  afterEach(async () => {
    for (const folder of [root, outside]) await rm(folder, { recursive: true, force: true });
  });

  function attemptOn(path: string, inputs: Record<string, unknown>) {
    const adapter = createFileAdapter({ roots: [{ name: 'r', folder: root }], timeoutMs: 3_000 });
    const prepared = adapter.prepare({ target: `r/${path}`, inputs });
    if (!prepared.ok) throw new Error(prepared.failure.detail);
    const { plan } = prepared.value;
    const signal = AbortSignal.timeout(3_000);
    const attempt = { operation: OPERATION, tenant: 'default', plan, epoch: 1, attempt: 1, signal };
    return { send: () => adapter.send(attempt), observe: () => adapter.observe(attempt) };
  }

  it('writes through no link: neither a folder on the way nor the file itself', async () => {
    await symlink(outside, join(root, 'away'));
    await writeFile(join(outside, 'kept'), 'old');
    await symlink(join(outside, 'kept'), join(root, 'file'));
    expect((await attemptOn('away/x', { text: 'new' }).send()).answer).toBe('refused');
    expect((await attemptOn('file', { text: 'new' }).send()).answer).toBe('uncertain');
    const replace = attemptOn('file', { text: 'new', expect: sha256('old') });
    expect((await replace.send()).answer).toBe('uncertain');
    expect((await replace.observe()).observed).toBe('unknown');
    expect(await readdir(outside)).toEqual(['kept']);
    expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('old');
  });

  it('refuses where its own folder was made a link', async () => {
    await symlink(outside, join(root, '.headway'));
    expect((await attemptOn('x', { text: 'new' }).send()).answer).toBe('refused');
    expect(await readdir(outside)).toEqual([]);
  });

  it('writes over nothing that is not as expected, and takes no file of another for its own', async () => {
    await writeFile(join(root, 'x'), 'of another');
    const create = attemptOn('x', { text: 'new' });
    expect((await create.send()).answer).toBe('uncertain');
    expect((await create.observe()).observed).toBe('unknown');
    expect((await attemptOn('x', { text: 'new', expect: sha256('old') }).send()).answer).toBe('refused');
    expect(await readFile(join(root, 'x'), 'utf8')).toBe('of another');
  });

  it('waits for one that holds the lock, and goes on after it', async () => {
    await writeFile(join(root, 'x'), 'old');
    const lock = join(root, '.headway', `${sha256(join(root, 'x'))}.lock`);
    await mkdir(join(root, '.headway'));
    await writeFile(lock, '');
    const replace = attemptOn('x', { text: 'new', expect: sha256('old') });
    expect(await replace.send()).toMatchObject({ answer: 'uncertain', reason: expect.stringContaining('.lock') });
    expect((await replace.observe()).observed).toBe('absent');
    await rm(lock);
    expect((await replace.send()).answer).toBe('succeeded');
    expect(await readdir(join(root, '.headway'))).toEqual([]);
  });
});

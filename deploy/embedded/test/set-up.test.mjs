import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findNatsServer } from '../bootstrap/nats-server.mjs';
import { checkPlatform } from '../bootstrap/node24.mjs';
import { cacheFolder, packageManagerEnvironment } from '../bootstrap/places.mjs';
import { run } from '../bootstrap/progress.mjs';
import { closingLine, countReport } from '../bootstrap/test-run.mjs';

let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headway set-up '));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function putServer(path, version) {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho nats-server: v${version}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('the cache folder', () => {
  test('is the one asked for, else the user’s, and never one that cannot be written', () => {
    const asked = join(folder, 'asked');
    expect(cacheFolder({ HEADWAY_CACHE_DIR: asked, XDG_CACHE_HOME: folder })).toBe(asked);
    expect(cacheFolder({ XDG_CACHE_HOME: folder })).toBe(join(folder, 'headway'));
    writeFileSync(join(folder, 'file'), '');
    expect(cacheFolder({ HEADWAY_CACHE_DIR: join(folder, 'file', 'below'), XDG_CACHE_HOME: folder })).toBe(
      join(folder, 'headway'),
    );
  });

  test('serves the package manager where the home folder cannot be written', () => {
    const before = process.env.HOME;
    process.env.HOME = join(folder, 'nowhere');
    try {
      expect(packageManagerEnvironment('/cache', {})).toMatchObject({ npm_config_cache: '/cache/npm' });
      process.env.HOME = folder;
      expect(packageManagerEnvironment('/cache', {})).toEqual({});
    } finally {
      process.env.HOME = before;
    }
  });
});

describe('a nats-server', () => {
  test('asked for by name is taken, or refused with that name', async () => {
    const asked = putServer(join(folder, 'mine'), '2.11.0');
    expect(await findNatsServer(folder, { HEADWAY_NATS_SERVER: asked })).toBe(asked);
    const missing = join(folder, 'missing');
    await expect(findNatsServer(folder, { HEADWAY_NATS_SERVER: missing })).rejects.toThrow(missing);
  });

  test('on the path comes before a cached one, unless it is too old', async () => {
    const cached = putServer(join(folder, 'nats-server', '2.10.0', 'nats-server'), '2.10.0');
    putServer(join(folder, 'nats-server', '2.9.10', 'nats-server'), '2.9.10');
    const onPath = putServer(join(folder, 'bin', 'nats-server'), '2.9.10');
    expect(await findNatsServer(folder, { PATH: `/nowhere:${join(folder, 'bin')}` })).toBe(onPath);
    putServer(onPath, '2.8.4');
    expect(await findNatsServer(folder, { PATH: join(folder, 'bin') })).toBe(cached);
  });

  test('that does not run is passed over', async () => {
    const cached = putServer(join(folder, 'nats-server', '2.9.10', 'nats-server'), '2.9.10');
    writeFileSync(putServer(join(folder, 'nats-server', '2.15.1', 'nats-server'), '0'), '#!/bin/sh\nexit 1\n');
    expect(await findNatsServer(folder, { PATH: '' })).toBe(cached);
  });
});

test('a machine that cannot run it is told the other way', () => {
  expect(() => checkPlatform({ platform: 'darwin', arch: 'arm64', version: '22.0.0' })).toThrow('docker compose up');
  expect(() => checkPlatform({ platform: 'linux', arch: 'x64', version: '18.20.0' })).toThrow('Node 20 or newer');
  expect(() => checkPlatform({ platform: 'linux', arch: 'arm64', version: '20.0.0' })).not.toThrow();
});

test('a command that cannot be started or takes too long is a value, not a crash', async () => {
  expect((await run('/nowhere/command', [])).code).toBe(127);
  expect((await run('sleep', ['60'], { timeoutMs: 50 })).code).toBe(124);
  expect(await run('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toMatchObject({ code: 3 });
});

describe('the count', () => {
  const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

  test('has a file that could not be loaded as one failure', () => {
    const broken = { status: 'failed', assertionResults: [] };
    const failing = { status: 'failed', assertionResults: [{ status: 'failed' }] };
    const report = { ...none, numPassedTests: 2, numFailedTests: 1, testResults: [broken, failing] };
    expect(countReport(report)).toEqual({ passed: 2, failed: 2, skipped: 0 });
  });

  test('names what was skipped only where something was', () => {
    expect(closingLine({ passed: 2, failed: 0, skipped: 0 })).toBe('2 passed, 0 failed');
    expect(closingLine({ passed: 2, failed: 1, skipped: 3 })).toBe('2 passed, 1 failed, 3 skipped');
  });
});

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cruiser = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');
const empty = 'export type Nothing = undefined;\n';

/** A small repository laid out like this one, in which each file but the first group breaks one rule. */
const allowed: Record<string, string> = {
  'packages/domain/kernel/src/index.ts': "export * from './hashing.ts';\n",
  'packages/domain/kernel/src/hashing.ts': "export { createHash } from 'node:crypto';\n",
  'packages/domain/contracts/src/index.ts': "import 'zod';\nimport type {} from '@headway/kernel';\n",
  'packages/domain/trajectory/src/index.ts': "import '@headway/contracts';\n",
  'packages/domain/effects/src/index.ts': "import '@headway/contracts';\n",
  'packages/platform/eventlog/src/index.ts': "import '@nats-io/jetstream';\nimport '@headway/contracts';\n",
  'packages/platform/readmodel/src/index.ts': "import 'kysely';\nimport 'pg';\n",
  'packages/faces/dashboard/src/index.ts': "import '@headway/contracts';\n",
  'services/ingest/src/main.ts': "import './adapters/door.ts';\nimport '@headway/eventlog';\n",
  'services/ingest/src/adapters/door.ts': empty,
  'services/ingest/src/accept.ts': "import '@headway/trajectory';\n",
  'services/projection/src/page.ts': "import '@headway/dashboard';\n",
};

const broken: [rule: string, file: string, source: string][] = [
  ['domain-is-pure', 'packages/domain/trajectory/src/clock.ts', "import 'node:fs';\n"],
  ['domain-is-pure', 'packages/domain/trajectory/src/shape.ts', "import 'zod';\n"],
  ['domain-is-pure', 'packages/domain/trajectory/src/log.ts', "import type {} from '@headway/eventlog';\n"],
  ['contracts-import-domain-and-zod', 'packages/domain/contracts/src/hash.ts', "import 'node:crypto';\n"],
  ['kernel-imports-hashing-only', 'packages/domain/kernel/src/clock.ts', "import 'node:timers';\n"],
  ['domain-tests-stay-below', 'packages/domain/trajectory/src/fold.test.ts', "import '@headway/eventlog';\n"],
  ['platform-imports-domain-and-platform', 'packages/platform/eventlog/src/page.ts', "import '@headway/dashboard';\n"],
  [
    'faces-import-no-service',
    'packages/faces/cli/src/serve.ts',
    "import '../../../../services/ingest/src/accept.ts';\n",
  ],
  ['only-projection-imports-the-dashboard', 'services/ingest/src/page.ts', "import '@headway/dashboard';\n"],
  ['services-import-no-face', 'services/projection/src/command.ts', "import '@headway/cli';\n"],
  ['services-never-import-each-other', 'services/projection/src/other.ts', "import '../../ingest/src/accept.ts';\n"],
  ['judgment-never-acts', 'services/classifier/src/act.ts', "import '@headway/effects';\n"],
  ['judgment-never-acts', 'services/classifier/src/spawn.ts', "import 'node:child_process';\n"],
  ['judgment-never-acts', 'services/classifier/src/call.ts', "import type {} from 'node:http';\n"],
  ['nats-only-in-eventlog', 'services/ingest/src/bus.ts', "import '@nats-io/jetstream';\n"],
  ['postgres-only-in-its-packages', 'services/ingest/src/rows.ts', "import 'pg';\n"],
  ['postgres-only-in-its-packages', 'packages/faces/cli/src/rows.ts', "import type {} from 'kysely';\n"],
  ['no-deep-imports', 'services/ingest/src/deep.ts', "import '../../../packages/domain/kernel/src/hashing.ts';\n"],
  [
    'packages-are-imported-by-name',
    'services/ingest/src/path.ts',
    "import '../../../packages/domain/kernel/src/index.ts';\n",
  ],
  ['only-main-imports-adapters', 'services/ingest/src/shortcut.ts', "import './adapters/door.ts';\n"],
  ['no-cycles', 'services/ingest/src/ring-back.ts', "import type {} from './ring.ts';\n"],
  ['everything-resolves', 'services/ingest/src/lost.ts', "import './nowhere.ts';\n"],
];

const packages = {
  '@headway/kernel': 'packages/domain/kernel',
  '@headway/contracts': 'packages/domain/contracts',
  '@headway/trajectory': 'packages/domain/trajectory',
  '@headway/effects': 'packages/domain/effects',
  '@headway/eventlog': 'packages/platform/eventlog',
  '@headway/dashboard': 'packages/faces/dashboard',
  '@headway/cli': 'packages/faces/cli',
};

let folder: string;

function put(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headway-rules-'));
  for (const name of ['.dependency-cruiser.mjs', 'tsconfig.json']) copyFileSync(join(root, name), join(folder, name));
  for (const [file, source] of Object.entries(allowed)) put(file, source);
  for (const [, file, source] of broken) put(file, source);
  put('packages/faces/cli/src/index.ts', empty);
  put('services/ingest/src/ring.ts', "import type {} from './ring-back.ts';\n");
  mkdirSync(join(folder, 'node_modules', '@headway'), { recursive: true });
  for (const [name, path] of Object.entries(packages)) {
    put(`${path}/package.json`, JSON.stringify({ name, type: 'module', exports: { '.': './src/index.ts' } }));
    symlinkSync(join('..', '..', path), join(folder, 'node_modules', name));
  }
  for (const name of ['zod', 'kysely', 'pg', '@nats-io/jetstream']) {
    put(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
    put(`node_modules/${name}/index.js`, '');
  }
  put('package.json', JSON.stringify({ name: 'scratch', type: 'module' }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function violations(): { rule: string; file: string }[] {
  const args = [cruiser, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'packages', 'services'];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (stdout === '') throw new Error(`dependency-cruiser printed nothing: ${stderr}`);
  const report = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  return report.summary.violations.map(({ from, rule }) => ({ rule: rule.name, file: from }));
}

describe('the dependency rules', () => {
  test('report each import that breaks them, type-only imports too, and none that keeps them', () => {
    const found = violations();
    const missed = broken.filter(([rule, file]) => !found.some((one) => one.rule === rule && one.file === file));
    expect(missed).toEqual([]);
    expect(found.filter(({ file }) => file in allowed)).toEqual([]);
  });
});

import type { Files, Run } from './capture.ts';
import { type Fault, type Style, testProject } from './test-projects.ts';

/** The sets of failures that every test runner is shown. */
const sets: Readonly<Record<string, readonly Fault[]>> = {
  many: ['one', 'type', 'custom', 'item'],
  fewer: ['one', 'type', 'item'],
  'other-number': ['two', 'type', 'custom', 'item'],
  'other-class': ['one', 'range', 'custom', 'item'],
  'only-cart': ['one'],
  'only-item': ['item'],
  values: ['values'],
  slow: ['slow'],
  snapshot: ['snapshot'],
  missing: ['missing', 'item'],
  syntax: ['syntax', 'item'],
  hook: ['hook'],
  rejection: ['rejection'],
  green: [],
};

export interface Runner {
  readonly packages: Readonly<Record<string, string>>;
  readonly style: Style;
  readonly files: Files;
  readonly command: string;
  /** Further command lines for the set `many`, by what is varied. */
  readonly variants: Readonly<
    Record<string, string | { command?: string; env?: Record<string, string>; files?: Files }>
  >;
  /** Those of the variants that are captured for the set `fewer` and the odd ones as well. */
  readonly everywhere?: readonly string[];
  readonly without?: readonly string[];
  /** Everything passes and the coverage is too low. */
  readonly coverage?: string;
}

const colour = { FORCE_COLOR: '1' };
const odd = ['fewer', 'slow', 'snapshot', 'missing', 'syntax', 'hook', 'rejection', 'values', 'other-class'];

const globals: Pick<Style, 'describe' | 'test' | 'beforeEach' | 'parameters'> = {
  describe: true,
  test: 'test',
  beforeEach: 'beforeEach',
  parameters: '',
};
const expectStyle = {
  equal: (actual: string, expected: string) => `expect(${actual}).toBe(${expected});`,
  deepEqual: (actual: string, expected: string) => `expect(${actual}).toEqual(${expected});`,
};
const manifest = (test: string, lint = ''): Files => ({
  'package.json': `${JSON.stringify({ name: 'shop', version: '1.0.0', type: 'module', scripts: { test, lint } }, null, 2)}\n`,
});

const vitestStyle: Style = {
  ...globals,
  ...expectStyle,
  head: "import { beforeEach, describe, expect, test } from 'vitest';",
  snapshot: (value, stored) => `expect(${value}).toMatchInlineSnapshot('"${stored}"');`,
  name: (base) => `${base}.test.js`,
};
const vitest = (packages: Record<string, string>, config: string): Runner => ({
  packages,
  style: vitestStyle,
  files: {
    ...manifest('vitest run'),
    'vitest.config.js': `export default { test: { testTimeout: 500, cache: false, maxWorkers: 2, ${config} } };\n`,
  },
  command: 'vitest run',
  variants: {
    colour: { env: colour },
    verbose: 'vitest run --reporter=verbose',
    tree: 'vitest run --reporter=tree',
    dot: 'vitest run --reporter=dot',
    tap: 'vitest run --reporter=tap',
    'tap-flat': 'vitest run --reporter=tap-flat',
    junit: 'vitest run --reporter=junit --outputFile=report.xml >/dev/null; cat report.xml',
    json: 'vitest run --reporter=json --outputFile=report.json >/dev/null; cat report.json',
    actions: {
      command: 'vitest run --reporter=default --reporter=github-actions',
      env: { GITHUB_ACTIONS: 'true', CI: 'true' },
    },
    seeded: 'vitest run --sequence.shuffle --sequence.seed=4711',
    silent: 'vitest run --silent',
    retried: 'vitest run --retry=2',
    npm: 'npm test',
  },
  everywhere: ['verbose', 'dot', 'again'],
});

const jestStyle: Style = {
  ...globals,
  ...expectStyle,
  head: '',
  importGone: "const { gone } = require('../src/gone.js');",
  snapshot: (value, stored) => `expect(${value}).toMatchInlineSnapshot(\`"${stored}"\`);`,
  name: (base) => `${base}.test.js`,
};
const jest = (packages: Record<string, string>): Runner => ({
  packages,
  style: jestStyle,
  files: {
    'package.json': `${JSON.stringify({ name: 'shop', scripts: { test: 'jest --ci' }, jest: { testTimeout: 200, maxWorkers: 2, cache: false } })}\n`,
  },
  command: 'jest --ci',
  variants: {
    colour: { env: colour },
    verbose: 'jest --ci --verbose',
    silent: 'jest --ci --silent',
    'in-band': 'jest --ci -i --randomize --seed=99',
    expand: 'jest --ci --expand --no-stack-trace',
    actions: {
      command: 'jest --ci --reporters=github-actions --reporters=summary',
      env: { GITHUB_ACTIONS: 'true', CI: 'true' },
    },
    npm: 'npm test',
  },
  everywhere: ['verbose', 'again'],
});

const mochaStyle: Style = {
  ...globals,
  test: 'it',
  head: "import assert from 'node:assert/strict';",
  equal: (actual, expected) => `assert.equal(${actual}, ${expected});`,
  deepEqual: (actual, expected) => `assert.deepEqual(${actual}, ${expected});`,
  snapshot: null,
  name: (base) => `${base}.test.js`,
};
const mocha = (packages: Record<string, string>): Runner => ({
  packages,
  style: mochaStyle,
  files: { ...manifest('mocha'), '.mocharc.json': '{"spec": "test/*.test.js", "timeout": 200}\n' },
  command: 'mocha',
  variants: {
    colour: 'mocha --color',
    dot: 'mocha --reporter dot',
    min: 'mocha --reporter min',
    list: 'mocha --reporter list',
    tap: 'mocha --reporter tap',
    json: 'mocha --reporter json',
    xunit: 'mocha --reporter xunit',
    'json-stream': 'mocha --reporter json-stream',
    parallel: 'mocha --parallel --jobs 2',
    npm: 'npm test',
  },
  everywhere: ['dot', 'again'],
  // A rejection that nobody waits for does not fail its run.
  without: ['snapshot', 'rejection'],
});

const avaStyle: Style = {
  head: "import test from 'ava';",
  describe: false,
  test: 'test.serial',
  beforeEach: 'test.beforeEach',
  equal: (actual, expected) => `t.is(${actual}, ${expected});`,
  deepEqual: (actual, expected) => `t.deepEqual(${actual}, ${expected});`,
  snapshot: null,
  parameters: 't',
  slowMs: 12_000,
  name: (base) => `${base}.test.js`,
};
const ava = (packages: Record<string, string>): Runner => ({
  packages,
  style: avaStyle,
  files: {
    'package.json': `${JSON.stringify({ name: 'shop', version: '1.0.0', type: 'module', scripts: { test: 'ava' }, ava: { files: ['test/*.test.js'], timeout: '5s', concurrency: 2 } })}\n`,
  },
  command: 'ava',
  variants: {
    colour: { env: colour },
    tap: 'ava --tap',
    verbose: 'ava --verbose',
    serial: 'ava --serial',
    npm: 'npm test',
  },
  everywhere: ['again'],
  without: ['snapshot'],
});

const jasmineStyle: Style = {
  ...globals,
  ...expectStyle,
  head: '',
  test: 'it',
  snapshot: null,
  name: (base) => `${base}.spec.js`,
};
const jasmine = (packages: Record<string, string>): Runner => ({
  packages,
  style: jasmineStyle,
  files: {
    ...manifest('jasmine'),
    'spec/support/jasmine.mjs':
      "export default { spec_dir: 'test', spec_files: ['*.spec.js'], helpers: ['../spec/limit.js'], env: { random: true, forbidDuplicateNames: false } };\n",
    'spec/limit.js': 'jasmine.DEFAULT_TIMEOUT_INTERVAL = 200;\n',
  },
  command: 'jasmine --config=spec/support/jasmine.mjs',
  variants: {
    colour: { command: 'jasmine --color --config=spec/support/jasmine.mjs' },
    seeded: 'jasmine --seed=4711 --config=spec/support/jasmine.mjs',
    ordered: 'jasmine --random=false --config=spec/support/jasmine.mjs',
    parallel: 'jasmine --parallel=2 --config=spec/support/jasmine.mjs',
    npm: 'npm test -- --config=spec/support/jasmine.mjs',
  },
  everywhere: ['again'],
  without: ['snapshot'],
});

const playwrightStyle: Style = {
  ...globals,
  ...expectStyle,
  head: "import { expect, test } from '@playwright/test';\nconst describe = test.describe;",
  beforeEach: 'test.beforeEach',
  snapshot: null,
  name: (base) => `${base}.spec.js`,
};
const playwright = (packages: Record<string, string>): Runner => ({
  packages,
  style: playwrightStyle,
  files: {
    ...manifest('playwright test'),
    'playwright.config.js': "export default { testDir: 'test', timeout: 600, workers: 2, reporter: 'list' };\n",
  },
  command: 'playwright test',
  variants: {
    colour: { env: colour },
    line: 'playwright test --reporter=line',
    dot: 'playwright test --reporter=dot',
    junit: 'playwright test --reporter=junit',
    actions: { command: 'playwright test --reporter=github', env: { GITHUB_ACTIONS: 'true' } },
    retried: 'playwright test --retries=1',
    npm: 'npm test',
  },
  everywhere: ['again', 'line'],
  without: ['snapshot'],
});

/** A reporter that came with Vitest 4. */
function withoutTree(runner: Runner): Runner {
  const { tree: _, ...variants } = runner.variants;
  return { ...runner, variants };
}

export const runners: Readonly<Record<string, Runner>> = {
  vitest: {
    ...vitest({ vitest: '5.1.2', '@vitest/coverage-v8': '5.1.2' }, ''),
    coverage:
      "vitest run --coverage.enabled --coverage.include='src/**' --coverage.thresholds.lines=80 --coverage.thresholds.functions=90",
  },
  'vitest-3': withoutTree(vitest({ vitest: '3.2.7' }, '')),
  jest: {
    ...jest({ jest: '30.5.2' }),
    coverage: `jest --ci --coverage --collectCoverageFrom='src/*.js' --coverageThreshold='{"global":{"lines":80,"functions":90}}'`,
  },
  'jest-29': jest({ jest: '29.7.0' }),
  mocha: mocha({ mocha: '12.0.3' }),
  'mocha-10': mocha({ mocha: '10.8.2' }),
  ava: ava({ ava: '7.0.0' }),
  jasmine: jasmine({ jasmine: '7.0.0' }),
  'jasmine-5': jasmine({ jasmine: '5.13.0' }),
  playwright: playwright({ '@playwright/test': '1.65.1' }),
};

const uncovered: Files = { 'src/sum.js': 'export function sum(a, b) {\n  return a + b;\n}\n' };

export function runsOf(runner: Runner): Run[] {
  const files = { ...runner.files, ...uncovered, ...testProject(runner.style, { faults: [] }) };
  const coverage: Run[] =
    runner.coverage === undefined ? [] : [{ set: 'coverage', variant: 'base', files, command: runner.coverage }];
  return [...coverage, ...ofSets(runner)];
}

function ofSets(runner: Runner): Run[] {
  return Object.entries(sets).flatMap(([set, faults]) => {
    if (runner.without?.includes(set)) return [];
    const run = (variant: string, changed: { command?: string; env?: Record<string, string>; files?: Files }): Run => ({
      set,
      variant,
      files: {
        ...runner.files,
        ...testProject(runner.style, { faults, again: variant === 'again' }),
        ...changed.files,
      },
      command: changed.command ?? runner.command,
      ...(changed.env === undefined ? {} : { env: changed.env }),
    });
    const all = { base: {}, again: {}, ...runner.variants };
    return Object.entries(all)
      .filter(
        ([variant]) =>
          set === 'many' || variant === 'base' || (odd.includes(set) && runner.everywhere?.includes(variant)),
      )
      .map(([variant, changed]) => run(variant, typeof changed === 'string' ? { command: changed } : changed));
  });
}

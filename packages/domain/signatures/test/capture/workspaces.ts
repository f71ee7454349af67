import type { Files, Run } from './capture.ts';

/** Several tools and several packages in one output. */
const json = (value: unknown) => `${JSON.stringify(value)}\n`;
const failing = (name: string, value: number) =>
  `import { expect, test } from 'vitest';\ntest('adds ${name}', () => { expect(${value}).toBe(4); });\ntest('costs', () => {});\n`;
const one = (name: string): Files => ({
  [`packages/${name}/package.json`]: json({
    name: `@shop/${name}`,
    version: '1.0.0',
    type: 'module',
    scripts: { test: 'vitest run', lint: 'eslint src', types: 'tsc' },
  }),
  [`packages/${name}/test/${name}.test.js`]: failing(name, 10 + name.length),
  [`packages/${name}/src/${name}.js`]: `console.log(${name}Price);\n`,
});
const files: Files = {
  'package.json': json({
    name: 'shop',
    version: '1.0.0',
    type: 'module',
    private: true,
    workspaces: ['packages/*'],
    scripts: {
      test: 'vitest run',
      lint: 'eslint packages',
      both: 'eslint packages; vitest run',
      check: 'npm run lint && npm test',
    },
  }),
  'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
  'eslint.config.js':
    "export default [{ files: ['**/src/*.js'], languageOptions: { globals: { console: 'readonly' } }, rules: { 'no-undef': 'error' } }];\n",
  ...one('cart'),
  ...one('items'),
};
const again: Files = { ...files, 'packages/items/test/items.test.js': `// lower\n\n${failing('items', 77)}` };

const run = (set: string, variant: string, command: string, with_ = files): Run => ({
  set,
  variant,
  command,
  files: with_,
});

export const workspaces = {
  packages: { eslint: '10.15.0', vitest: '5.1.2', pnpm: '12.21.0' },
  runs: [
    run('both', 'base', 'npm run lint; npm test'),
    run('both', 'again', 'npm test; npm run lint', again),
    run('both', 'script', 'npm run both'),
    run('lint', 'base', 'npm run lint && npm test'),
    run('lint', 'script', 'npm run check'),
    run('tests', 'base', 'vitest run'),
    run('each', 'base', 'npm test --workspaces'),
    run('each', 'pnpm', 'pnpm -r --no-bail test'),
    run('each', 'parallel', 'pnpm -r --no-bail --parallel test'),
    run('each', 'ordered', 'pnpm -r --no-bail --workspace-concurrency=1 test', again),
    run('first', 'base', 'pnpm -r --workspace-concurrency=1 test'),
  ],
};

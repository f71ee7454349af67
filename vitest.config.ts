import { defineConfig } from 'vitest/config';

const folders = ['packages', 'services', 'deploy', 'test'];
const long = process.env.HEADWAY_LONG_TESTS === '1';

export default defineConfig({
  test: {
    // The set-up is plain JavaScript, and so are its tests.
    include: folders.map((folder) => `${folder}/**/*${long ? '.long' : ''}.test.{ts,mjs}`),
    exclude: ['**/node_modules/**', '.headway/**', ...(long ? [] : ['**/*.long.test.*'])],
    testTimeout: long ? 900_000 : 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    passWithNoTests: long,
  },
});

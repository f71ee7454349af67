import { defineConfig } from 'vitest/config';

const folders = ['packages', 'services', 'deploy', 'test'];
const long = process.env.HEADWAY_LONG_TESTS === '1';

export default defineConfig({
  test: {
    include: folders.map((folder) => `${folder}/**/*${long ? '.long' : ''}.test.ts`),
    exclude: ['**/node_modules/**', '.headway/**', ...(long ? [] : ['**/*.long.test.ts'])],
    testTimeout: long ? 900_000 : 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    passWithNoTests: long,
  },
});

import { defineConfig } from 'vitest/config';

const folders = ['packages', 'services', 'deploy', 'test'];
const long = process.env.HEADWAY_LONG_TESTS === '1';
/** Tests that build images and run them on a Docker engine: never part of the usual run. */
const docker = process.env.HEADWAY_DOCKER_TESTS === '1';
const kind = docker ? '.docker' : long ? '.long' : '';

export default defineConfig({
  test: {
    // The set-up is plain JavaScript, and so are its tests.
    include: folders.map((folder) => `${folder}/**/*${kind}.test.{ts,mjs}`),
    exclude: ['**/node_modules/**', '.headway/**', ...(kind === '' ? ['**/*.{long,docker}.test.*'] : [])],
    testTimeout: kind === '' ? 60_000 : 900_000,
    hookTimeout: docker ? 900_000 : 120_000,
    maxWorkers: docker ? 1 : 2,
    passWithNoTests: kind !== '',
  },
});

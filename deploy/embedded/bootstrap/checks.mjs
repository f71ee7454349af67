// What `npm test` runs before the tests themselves: each is one command that exits 0 where all is well.
import { join } from 'node:path';
import { repositoryRoot } from './places.mjs';
import { run, say } from './progress.mjs';

const script = (...parts) => join(repositoryRoot, 'node_modules', ...parts);

/** Every check with the arguments that Node 24 runs it with. */
export const CHECKS = [
  { name: 'types', args: [script('typescript', 'bin', 'tsc'), '--noEmit'] },
  { name: 'format and lint', args: [script('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings', '.'] },
  {
    name: 'lint with types',
    args: [script('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings'],
  },
  {
    name: 'dependency rules',
    args: [
      script('dependency-cruiser', 'bin', 'dependency-cruiser.mjs'),
      '--config',
      '.dependency-cruiser.mjs',
      'packages',
      'services',
      'deploy',
      'test',
    ],
  },
];

/** Runs all checks, printing the output of those that fail. */
export async function runChecks(node, env) {
  let passed = 0;
  for (const { name, args } of CHECKS) {
    const begun = Date.now();
    const { code, output } = await run(node, args, { cwd: repositoryRoot, env });
    const seconds = ((Date.now() - begun) / 1000).toFixed(1);
    if (code === 0) {
      passed += 1;
      say(`check: ${name}: passed (${seconds} s)`);
    } else {
      say(`check: ${name}: FAILED with exit code ${code} (${seconds} s)\n${output}`);
    }
  }
  return { passed, failed: CHECKS.length - passed };
}

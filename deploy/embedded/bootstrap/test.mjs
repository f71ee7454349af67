// `npm test`: sets up what is missing, then runs every check and every test, and ends with the count of both.
//   node test.mjs [--long | --docker] [arguments for vitest]
//   --long runs the *.long.test.ts files only, and no checks; --docker the *.docker.test.ts files, which need a Docker engine
import { runChecks } from './checks.mjs';
import { fail, prepare } from './prepare.mjs';
import { closingLine, runTests } from './test-run.mjs';

const long = process.argv.includes('--long');
const docker = process.argv.includes('--docker');
const given = process.argv.slice(2).filter((argument) => argument !== '--long' && argument !== '--docker');

try {
  const { node, env } = await prepare({ servers: 'always' });
  if (long) env.HEADWAY_LONG_TESTS = '1';
  if (docker) env.HEADWAY_DOCKER_TESTS = '1';
  const checks = long || docker ? { passed: 0, failed: 0 } : await runChecks(node, env);
  const tests = await runTests(node, given, env);
  const failed = checks.failed + tests.failed;
  process.stdout.write(`${closingLine({ passed: checks.passed + tests.passed, failed, skipped: tests.skipped })}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  fail(error);
}

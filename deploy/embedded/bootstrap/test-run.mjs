// Runs vitest under Node 24 and counts by its own JSON report.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './places.mjs';
import { say } from './progress.mjs';

function runVitest(node, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [join(repositoryRoot, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], {
      cwd: repositoryRoot,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const stop = (signal) => child.kill(signal);
    process.once('SIGINT', stop).once('SIGTERM', stop);
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      resolve(code ?? 1);
    });
  });
}

/**
 * Counts a report. A test file that could not be loaded holds no test that failed, so it counts as one failure of its own.
 * @param {{numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: {status: string, assertionResults: {status: string}[]}[]}} report
 */
export function countReport(report) {
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Runs the tests; where vitest exits non-zero although its report counts no failure, that is one failure. */
export async function runTests(node, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'headway-report-'));
  const file = join(folder, 'report.json');
  try {
    const code = await runVitest(
      node,
      ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args],
      env,
    );
    let counts;
    try {
      counts = countReport(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      say(`vitest left no report that can be read (${error.message}); its exit code was ${code}`);
      return { passed: 0, failed: 1, skipped: 0 };
    }
    if (code !== 0 && counts.failed === 0) {
      say(`vitest ended with exit code ${code} although no test failed (an error outside of the tests, shown above)`);
      return { ...counts, failed: 1 };
    }
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The closing line. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

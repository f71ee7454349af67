/**
 * `headway classify` over short and long histories of one work: the command as people run it. Prints one line of JSON with
 * the peak of resident memory and the time for each event, the start of the process taken off.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SIZES = [1, 1_000, 100_000, 500_000, 1_000_000];
const LOOK_MILLISECONDS = 50;
const commandLine = fileURLToPath(new URL('../../packages/faces/cli/src/main.ts', import.meta.url));

function line(at: number): string {
  const failing = at % 7 !== 0;
  return JSON.stringify({
    specversion: '1.0',
    source: 'bench',
    id: String(at),
    subject: 'W-1',
    type: 'headway.gate.attempted',
    data: {
      gate: at % 2 === 0 ? 'test' : 'lint',
      outcome: failing ? 'failed' : 'passed',
      stage: 'prep',
      failures: failing ? [{ key: `test ${(at >> 4) % 5}` }] : [],
      diff: { hash: `diff ${at >> 2}` },
    },
  });
}

async function write(path: string, events: number): Promise<void> {
  const out = createWriteStream(path);
  for (let at = 0; at < events; at += 1) if (!out.write(`${line(at)}\n`)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
}

/** Peak resident memory of a process as Linux counts it, in MiB; `null` once it is gone. */
function peakOf(pid: number): number | null {
  try {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return found === undefined ? null : Number(found) / 1_024;
  } catch {
    return null;
  }
}

async function measure(path: string): Promise<{ peakMiB: number; seconds: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [commandLine, 'classify', path], { stdio: ['ignore', 'ignore', 'inherit'] });
  let peakMiB = 0;
  const looking = setInterval(() => {
    peakMiB = Math.max(peakMiB, peakOf(child.pid ?? 0) ?? 0);
  }, LOOK_MILLISECONDS);
  const [code] = (await once(child, 'exit')) as [number];
  clearInterval(looking);
  if (code !== 0) throw new Error(`headway classify ended with ${code}`);
  return { peakMiB, seconds: (performance.now() - started) / 1_000 };
}

const folder = await mkdtemp(join(tmpdir(), 'headway-classify-bench-'));
try {
  const results: Record<string, { peakMiB: number; microsecondsPerEvent: number | null }> = {};
  let start = 0;
  for (const events of SIZES) {
    const path = join(folder, `${events}.ndjson`);
    await write(path, events);
    const { peakMiB, seconds } = await measure(path);
    if (events === 1) start = seconds;
    const each = events === 1 ? null : Number((((seconds - start) * 1e6) / events).toFixed(1));
    results[events] = { peakMiB: Math.round(peakMiB), microsecondsPerEvent: each };
    await rm(path);
  }
  console.log(
    JSON.stringify({ measure: 'headway classify, one work', startSeconds: Number(start.toFixed(2)), results }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

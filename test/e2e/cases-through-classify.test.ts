import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { caseFile, type Expectation, readCases } from '../harness/cases.ts';
import { run } from '../harness/run.ts';
import { repositoryRoot } from '../harness/services.ts';

const cases = readCases();
const commandLine = join(repositoryRoot, 'packages', 'faces', 'cli', 'src', 'main.ts');

interface WorkLine {
  readonly work: string;
  readonly class: string;
  readonly rule: string;
  readonly signal: string | null;
  readonly signals: number;
  readonly acknowledged: number;
  readonly withdrawn: number;
  readonly done: boolean;
}
interface SharedLine {
  readonly shared: { readonly gate: string; readonly works: readonly string[] };
}
interface SummaryLine {
  readonly summary: { readonly events: number; readonly signals: number; readonly open: number };
}

describe.skipIf(cases.length === 0)('labelled trajectories, through `headway classify`', () => {
  it.each(cases.map((example) => [example.name, example] as const))('%s', async (name, { events, expect: wanted }) => {
    const ran = await run(process.execPath, [commandLine, 'classify', caseFile(name)], { cwd: repositoryRoot });
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const lines = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as WorkLine | SharedLine | SummaryLine);
    const works = lines.filter((line) => 'work' in line);
    const shared = lines.flatMap((line) => ('shared' in line ? [line.shared] : []));
    const summary = lines.flatMap((line) => ('summary' in line ? [line.summary] : []))[0];
    expect(summary?.events).toBe(events.length);
    if (events.length > 0)
      checkWork(
        works.find(({ work }) => work === 'W-1'),
        wanted,
      );
    else expect(works).toEqual([]);
    const sum = (count: (line: WorkLine) => number) => works.reduce((total, line) => total + count(line), 0);
    if (wanted.signal !== undefined) expect((summary?.open ?? 0) > 0).toBe(wanted.signal);
    if (wanted.signals !== undefined) expect(summary?.signals).toBe(wanted.signals);
    if (wanted.open !== undefined) expect(summary?.open).toBe(wanted.open);
    if (shared.length === 0 && wanted.acknowledged !== undefined)
      expect(sum((line) => line.acknowledged)).toBe(wanted.acknowledged);
    if (shared.length === 0 && wanted.withdrawn !== undefined)
      expect(sum((line) => line.withdrawn)).toBe(wanted.withdrawn);
    if (wanted.shared !== undefined) expect(shared).toMatchObject(wanted.shared);
  });
});

function checkWork(line: WorkLine | undefined, wanted: Expectation): void {
  if (wanted.class != null) expect(line?.class).toBe(wanted.class);
  if (wanted.rule != null) expect(line?.rule).toBe(wanted.rule);
  if (wanted.done !== undefined) expect(line?.done).toBe(wanted.done);
  expect(wanted.forbid ?? []).not.toContain(line?.class);
}

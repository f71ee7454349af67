import { basename } from 'node:path';
import { type Diff, limits, type Stage } from '@headway/contracts';
import { type Result, refused } from '@headway/kernel';
import { signatureOf } from '@headway/signatures';
import { type Context, oneLine, say } from '../context.ts';
import { type GateRun, runGate } from '../gate-run.ts';
import { chooseBase, currentBranch } from '../git/base.ts';
import { diffState, workTreeOf } from '../git/diff-state.ts';
import { gitIn } from '../git/run-git.ts';
import { fitAttempt, newEvent } from '../report/event.ts';
import type { Reported } from '../report/reporter.ts';
import { rulesFrom } from '../signature-rules.ts';

export interface GateOptions {
  readonly work?: string;
  readonly stage: Stage;
  readonly incarnation?: number;
  readonly worker?: string;
  readonly base?: string;
  readonly rules?: string;
  readonly json?: boolean;
}

/** The state of the work tree as the gate saw it, or why it could not be seen. */
export interface Observed {
  readonly diff: Result<Diff, string>;
  readonly base: { readonly revision: string; readonly from: string } | null;
}

/**
 * Runs a gate and reports it. The gate's output, standard input and exit code are those of the command; reporting is
 * bounded in time and never changes the exit code.
 *
 * The diff state is the one before the run: it is what was judged.
 */
export async function gate(
  context: Context,
  name: string,
  command: readonly string[],
  options: GateOptions,
): Promise<number> {
  const work = await chooseWork(context, options.work);
  const observed = await observe(context, work, options.base);
  const [program, ...args] = command;
  const rules = await rulesFrom(options.rules, context.environment);
  if (!rules.ok) say(context, `gate ${name}: ${rules.failure}; going on without them`);
  const reading = { roots: [context.cwd], rules: rules.ok ? rules.value : undefined };
  const run = await runGate(program as string, args, context, reading);
  if (run.notStarted !== null) say(context, `gate ${name}: ${run.notStarted}`);
  const { worker = context.environment.HEADWAY_WORKER, incarnation, stage } = options;
  const event = newEvent(
    'headway.gate.attempted',
    work,
    { worker, incarnation },
    attemptData(name, stage, run, observed),
  );
  const reported = await context.reporter.report(event);
  explain(context, name, reported);
  if (options.json === true) context.stderr.write(`${JSON.stringify(summary(name, work, run, observed, reported))}\n`);
  return run.exitCode;
}

/** `--work`, else `HEADWAY_WORK`, else `<folder>@<branch>`, which is said. */
export async function chooseWork(context: Context, said: string | undefined): Promise<string> {
  const named = said || context.environment.HEADWAY_WORK;
  if (named) return named;
  const root = await workTreeOf(context.cwd, context.environment);
  const branch = root.ok ? ((await currentBranch(gitIn(root.value, context.environment))) ?? 'detached') : null;
  const folder = basename(root.ok ? root.value : context.cwd) || 'work';
  const work = (branch === null ? folder : `${folder}@${branch}`).slice(0, limits.workId);
  say(context, `the work is ${work} (name it with --work or HEADWAY_WORK)`);
  return work;
}

export async function observe(context: Context, work: string, base?: string): Promise<Observed> {
  const root = await workTreeOf(context.cwd, context.environment);
  if (!root.ok) return { diff: root, base: null };
  const git = gitIn(root.value, context.environment);
  const said = { option: base, environment: context.environment.HEADWAY_BASE };
  const chosen = await chooseBase(git, said, context.memory.base(work, root.value));
  if ('reason' in chosen) return { diff: refused(chosen.reason), base: null };
  const diff = await diffState(root.value, chosen.revision, context.environment);
  if (chosen.remember) context.memory.rememberBase(work, root.value, { revision: chosen.revision, from: 'first seen' });
  return { diff, base: { revision: chosen.revision, from: chosen.from } };
}

function attemptData(name: string, stage: Stage, run: GateRun, { diff, base }: Observed) {
  const { outcome, failures } = run.reading;
  return fitAttempt({
    gate: name,
    outcome,
    stage,
    exitCode: run.exitCode,
    ...(outcome === 'failed' && failures.length > 0 ? { failures } : {}),
    output: run.notStarted ?? run.output,
    diff: diff.ok ? diff.value : null,
    ...(diff.ok ? {} : { diffReason: diff.failure }),
    ...(base === null ? {} : { base: base.revision }),
    ...(run.signal === null ? {} : { signal: run.signal }),
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    durationMs: run.durationMs,
  });
}

function explain(context: Context, name: string, reported: Reported): void {
  if (reported.outcome === 'spooled')
    say(context, `gate ${name}: the report is kept and sent with the next one (${reported.reason})`);
  else if (reported.outcome === 'lost') say(context, `gate ${name} is not reported: ${reported.reason}`);
  else if (reported.outcome === 'refused') say(context, `gate ${name} is not reported: ${reported.problem.detail}`);
}

function summary(name: string, work: string, run: GateRun, { diff, base }: Observed, reported: Reported) {
  const { outcome, tool, failures } = run.reading;
  return {
    gate: name,
    work,
    outcome,
    exitCode: run.exitCode,
    tool,
    signature:
      outcome === 'failed'
        ? signatureOf(
            name,
            failures.map((failure) => failure.key),
          )
        : null,
    failures,
    diff: diff.ok ? diff.value : null,
    diffReason: diff.ok ? null : oneLine(diff.failure),
    base,
    durationMs: run.durationMs,
    report: reported.outcome,
    position: 'position' in reported ? reported.position : null,
    reportReason:
      'reason' in reported ? reported.reason : reported.outcome === 'refused' ? reported.problem.detail : null,
  };
}

import type { EvidenceType } from '@headway/contracts';
import { type Context, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { commitOf } from '../git/base.ts';
import { workTreeOf } from '../git/diff-state.ts';
import { gitIn } from '../git/run-git.ts';
import { newEvent } from '../report/event.ts';
import { observe } from './gate.ts';

export interface ReportOptions {
  readonly worker?: string;
  readonly incarnation?: number;
  readonly json?: boolean;
}

export interface ClaimOptions extends ReportOptions {
  readonly orchestrator?: string;
  readonly lane?: string;
  readonly base?: string;
  readonly criterion?: readonly string[];
  readonly files?: number;
  readonly toolCalls?: number;
  readonly gateAttempts?: number;
  readonly commits?: number;
  readonly tokens?: number;
}

/** What a person reads after an event was taken. */
const happened: Readonly<Record<EvidenceType, string>> = {
  'headway.work.claimed': 'claimed',
  'headway.gate.attempted': 'gate attempt recorded',
  'headway.commit.recorded': 'commit recorded',
  'headway.edit.recorded': 'edit recorded',
  'headway.checkpoint.recorded': 'checkpoint recorded',
  'headway.delegation.opened': 'delegation opened',
  'headway.delegation.completed': 'delegation completed',
  'headway.wake.delivered': 'wake delivered',
  'headway.signal.sent': 'answer sent',
  'headway.usage.recorded': 'usage recorded',
  'headway.work.blocked': 'blocked',
  'headway.work.unblocked': 'unblocked',
  'headway.work.released': 'released',
  'headway.work.done': 'done',
};

/** Reports one event about a work and says what became of it. */
export async function send(
  context: Context,
  type: EvidenceType,
  work: string,
  options: ReportOptions,
  data: Readonly<Record<string, unknown>>,
): Promise<number> {
  const worker = options.worker ?? context.environment.HEADWAY_WORKER;
  const event = newEvent(type, work, { worker, incarnation: options.incarnation }, data);
  const reported = await context.reporter.report(event);
  if (options.json === true) printJson(context, { work, type, id: event.id, source: event.source, report: reported });
  if (reported.outcome === 'accepted' || reported.outcome === 'duplicate') {
    const known = reported.outcome === 'duplicate' ? ' (was known)' : '';
    if (options.json !== true) print(context, `${work}: ${happened[type]}${known}`);
    return exitCodes.ok;
  }
  if (reported.outcome === 'refused') {
    say(context, reported.problem.detail);
    return exitCodes.refused;
  }
  if (reported.outcome === 'spooled') say(context, `kept on disk and sent with the next report: ${reported.reason}`);
  else say(context, `not reported: ${reported.reason}`);
  return exitCodes.unavailable;
}

/** Claims a work. The base is `--base`, else HEAD here; it is remembered for the gates of this work in this work tree. */
export async function claim(context: Context, work: string, options: ClaimOptions): Promise<number> {
  const worker = options.worker ?? context.environment.HEADWAY_WORKER;
  if (!worker) {
    say(context, 'who claims it? Set --worker or HEADWAY_WORKER');
    return exitCodes.usage;
  }
  const root = await workTreeOf(context.cwd, context.environment);
  const base = root.ok ? await commitOf(gitIn(root.value, context.environment), options.base ?? 'HEAD') : null;
  if (options.base !== undefined && root.ok && base === null) {
    say(context, `--base ${options.base} is no commit here`);
    return exitCodes.usage;
  }
  const { files, toolCalls, gateAttempts, commits, tokens } = options;
  const sizing = withoutGaps({ files, toolCalls, gateAttempts, commits, tokens });
  const data = withoutGaps({
    worker,
    orchestrator: options.orchestrator,
    lane: options.lane,
    base: base ?? options.base,
    criteria: options.criterion,
    sizing: Object.keys(sizing).length === 0 ? undefined : sizing,
  });
  const exitCode = await send(context, 'headway.work.claimed', work, { ...options, worker }, data);
  if (exitCode !== exitCodes.refused && root.ok && base !== null)
    context.memory.rememberBase(work, root.value, { revision: base, from: 'claim' });
  return exitCode;
}

/** Reports a checkpoint with the diff state, so that new work can be told from a repeated note. */
export async function checkpoint(
  context: Context,
  work: string,
  options: ReportOptions & { readonly by: string; readonly note?: string; readonly base?: string },
): Promise<number> {
  const { diff } = await observe(context, work, options.base);
  const data = withoutGaps({ by: options.by, note: options.note, diff: diff.ok ? diff.value : null });
  return send(context, 'headway.checkpoint.recorded', work, options, data);
}

export const withoutGaps = <Shape extends object>(shape: Shape): Partial<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Partial<Shape>;

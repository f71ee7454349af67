import type { ProjectionView, RebuildView } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export interface RebuildOptions {
  readonly why: string;
  readonly as?: string;
  readonly cancel?: boolean;
  /** `--no-wait`: answer as soon as it is asked for. */
  readonly wait: boolean;
  readonly json?: boolean;
}

/** Between two looks at the progress. Milliseconds. */
const LOOK_AGAIN_MS = 500;
/** Looks in a row that may fail before waiting is given up; the rebuild goes on without us. */
const FAILED_LOOKS = 20;

/** Asks for a rebuild, or calls it off, and follows it to its end. */
export async function rebuild(context: Context, name: string, options: RebuildOptions): Promise<number> {
  const request = { why: options.why, as: options.as };
  const asked = await context.reader.rebuild(name, options.cancel === true ? 'cancel' : 'begin', request);
  if (!asked.ok) return failed(context, asked.failure);
  const view = await read(context, name, asked.value.position);
  if (!view.ok) return view.code;
  if (options.cancel === true || !options.wait) {
    tell(context, view.value, options);
    return exitCodes.ok;
  }
  return follow(context, name, view.value, options);
}

async function follow(context: Context, name: string, first: ProjectionView, options: RebuildOptions): Promise<number> {
  const show = progress(context);
  let view = first;
  let lost = 0;
  while (view.rebuild?.state === 'requested' || view.rebuild?.state === 'running') {
    show(view.rebuild);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    const next = await context.reader.projections();
    const found = next.ok ? next.value.items.find((one) => one.name === name) : undefined;
    lost = found === undefined ? lost + 1 : 0;
    if (lost > FAILED_LOOKS && !next.ok) return failed(context, next.failure);
    view = found ?? view;
  }
  show(view.rebuild);
  tell(context, view, options);
  return view.rebuild?.state === 'switched' ? exitCodes.ok : exitCodes.refused;
}

async function read(
  context: Context,
  name: string,
  after: string,
): Promise<{ readonly ok: true; readonly value: ProjectionView } | { readonly ok: false; readonly code: number }> {
  const answer = await context.reader.projections({ after });
  if (!answer.ok) return { ok: false, code: failed(context, answer.failure) };
  const found = answer.value.items.find((one) => one.name === name);
  if (found !== undefined) return { ok: true, value: found };
  say(context, `there is no projection ${name}`);
  return { ok: false, code: exitCodes.refused };
}

function tell(context: Context, view: ProjectionView, { json }: RebuildOptions): void {
  const { rebuild: found, name, generation } = view;
  if (json === true) printJson(context, view);
  else if (found === null) print(context, `${name}: generation ${generation}`);
  else
    print(
      context,
      oneLine(`${name}: ${found.state}, generation ${generation}${found.error === null ? '' : `: ${found.error}`}`),
    );
}

/** A line that is written over on a terminal; elsewhere one line for each tenth. */
function progress({ stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): (now: RebuildView | null) => void {
  const live = stdout.isTTY === true;
  let told = -1;
  return (now) => {
    if (now === null || now.total === 0) return;
    const percent = Math.floor((100 * now.done) / now.total);
    const step = live ? percent + now.done / 1e12 : Math.floor(percent / 10);
    if (step === told) return;
    told = step;
    const speed = now.rate === null ? '' : `, ${now.rate}/s`;
    const left = now.etaSeconds === null ? '' : `, ${now.etaSeconds} s to go`;
    const text = `${String(percent).padStart(3)}% ${now.done}/${now.total} messages${speed}${left}`;
    stderr.write(live ? `\r\x1b[K${text}${now.state === 'running' ? '' : '\n'}` : `${text}\n`);
  };
}

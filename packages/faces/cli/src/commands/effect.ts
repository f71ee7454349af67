import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { EffectResolution } from '@headway/client';
import { type EffectState, type EffectView, effectLimits } from '@headway/contracts';
import { verifyHistory } from '@headway/effects';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

interface Common {
  readonly json?: boolean;
}

/** Pages of operations that one list is made of. */
const PAGES = 20;
const LONGEST_WAIT_SECONDS = 3_600;
const LOOK_MS = 1_000;
/** Digits of an operation's id that a list shows. */
const SHOWN_ID = 12;

/** What an operation does not leave by itself; UNCERTAIN may still be reconciled, so a wait goes on over it. */
const ENDED: ReadonlySet<EffectState> = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'ABANDONED']);

/** The exit code that tells how an operation stands. */
function codeOf({ state }: EffectView): number {
  if (state === 'FAILED' || state === 'REJECTED' || state === 'ABANDONED') return exitCodes.refused;
  return state === 'UNCERTAIN' ? exitCodes.uncertain : exitCodes.ok;
}

function tell(context: Context, view: EffectView, { json }: Common): number {
  if (json === true) printJson(context, view);
  else for (const line of lines(view)) print(context, line);
  return codeOf(view);
}

function lines(view: EffectView): string[] {
  const facts: [string, string | null][] = [
    ['operation', view.operation],
    ['state', view.state + (view.uncertainForSeconds === null ? '' : ` for ${ageOf(view.uncertainForSeconds)}`)],
    ['effect', `${view.kind} (class ${view.class}) ${view.target}`],
    ['key', view.generation === 1 ? view.key : `${view.key}, generation ${view.generation}`],
    ['authority', view.authority],
    ['attempts', `${view.attempt}, epoch ${view.epoch}`],
    ['reason', view.reason],
    ['resolved by', view.resolvedBy],
    ['result', view.result === null ? null : JSON.stringify(view.result)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(12)} ${oneLine(value)}`]));
}

export function ageOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

export interface RequestOptions extends Common {
  readonly target: string;
  readonly key: string;
  readonly generation?: number;
  /** JSON, `@file`, or `-` for standard input. */
  readonly inputs?: string;
  readonly authority?: string;
  readonly planRevision?: string;
  readonly by?: string;
  readonly wait?: boolean | string;
}

/** Asks for an effect, and waits for its end where that is asked for. */
export async function requestEffect(context: Context, kind: string, options: RequestOptions): Promise<number> {
  const inputs = readInputs(options.inputs ?? '{}');
  if (typeof inputs === 'string') return usage(context, inputs);
  const { target, key, generation, authority, planRevision, by } = options;
  const asked = { kind, target, key, generation, inputs, authority, planRevision, by };
  const answer = await context.reader.effects.request(withoutGaps(asked));
  if (!answer.ok) return failed(context, answer.failure);
  if (options.wait === undefined || options.wait === false) return tell(context, answer.value, options);
  return waitFor(context, answer.value, options.wait === true ? LONGEST_WAIT_SECONDS : Number(options.wait), options);
}

const withoutGaps = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [Name in keyof Value]: Exclude<Value[Name], undefined>;
  };

const usage = (context: Context, text: string): number => {
  say(context, text);
  return exitCodes.usage;
};

/** The inputs, or what is wrong with them. */
function readInputs(text: string): Readonly<Record<string, unknown>> | string {
  let content = text;
  try {
    if (text === '-') content = readFileSync(0, 'utf8');
    else if (text.startsWith('@')) content = readFileSync(text.slice(1), 'utf8');
  } catch (error) {
    return `${text.slice(1)} cannot be read: ${(error as Error).message}`;
  }
  try {
    const value: unknown = JSON.parse(content);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  return 'the inputs have to be one JSON object: --inputs \'{"json": {}}\', --inputs @file.json, or --inputs -';
}

async function waitFor(context: Context, first: EffectView, seconds: number, options: Common): Promise<number> {
  let view = first;
  let told: string = '';
  const until = performance.now() + seconds * 1_000;
  while (!ENDED.has(view.state) && performance.now() < until) {
    const now = `${view.state}${view.reason === null ? '' : `: ${view.reason}`}`;
    if (now !== told) say(context, `${view.operation.slice(0, SHOWN_ID)} is ${now}`);
    told = now;
    await pause(LOOK_MS);
    const answer = await context.reader.effects.show(view.operation);
    if (answer.ok) view = answer.value;
    else if (answer.failure.kind === 'refused') return failed(context, answer.failure);
  }
  return tell(context, view, options);
}

export interface ListOptions extends Common {
  readonly state?: EffectState;
  readonly kind?: string;
  readonly uncertain?: boolean;
}

/** Operations, newest first; the uncertain queue with age and what would resolve each. */
export async function listEffects(context: Context, options: ListOptions): Promise<number> {
  const state = options.uncertain === true ? 'UNCERTAIN' : options.state;
  const found: EffectView[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await context.reader.effects.list({ state, kind: options.kind, cursor, limit: effectLimits.page });
    if (!answer.ok) return failed(context, answer.failure);
    found.push(...answer.value.items);
    if (answer.value.next === null) break;
    cursor = answer.value.next;
  }
  if (options.json === true) {
    printJson(context, { items: found });
    return exitCodes.ok;
  }
  if (found.length === 0) print(context, state === undefined ? 'no effect was asked for' : `no effect is ${state}`);
  for (const view of found) {
    const age = view.uncertainForSeconds === null ? '' : ` ${ageOf(view.uncertainForSeconds)}`;
    const why = view.resolvedBy ?? view.reason ?? '';
    const head = `${view.operation.slice(0, SHOWN_ID)}  ${(view.state + age).padEnd(20)}`;
    // Only what others wrote is put on one line: the columns keep their width.
    const [target, key, because] = [view.target, view.key, why].map(oneLine);
    print(context, `${head} ${view.kind} ${target}  ${key}${because === '' ? '' : `  (${because})`}`);
  }
  return exitCodes.ok;
}

/** The operation that an id, or its beginning, names; else the exit code after it was said. */
async function find(context: Context, id: string): Promise<EffectView | number> {
  const exact = /^[0-9a-f]{64}$/.test(id);
  if (exact) {
    const answer = await context.reader.effects.show(id);
    return answer.ok ? answer.value : failed(context, answer.failure);
  }
  let cursor: string | undefined;
  const matching: EffectView[] = [];
  for (let page = 0; page < PAGES && matching.length < 2; page += 1) {
    const answer = await context.reader.effects.list({ cursor, limit: effectLimits.page });
    if (!answer.ok) return failed(context, answer.failure);
    matching.push(...answer.value.items.filter(({ operation }) => operation.startsWith(id)));
    if (answer.value.next === null) break;
    cursor = answer.value.next;
  }
  const [view, another] = matching;
  if (view === undefined) {
    say(context, `there is no operation ${id}; \`headway effect list\` shows what there is`);
    return exitCodes.refused;
  }
  if (another !== undefined) return usage(context, `${id} is the beginning of more than one id: write more of it`);
  return view;
}

export async function showEffect(context: Context, id: string, options: Common): Promise<number> {
  const view = await find(context, id);
  return typeof view === 'number' ? view : tell(context, view, options);
}

/** Looks at the target now. */
export async function reconcileEffect(context: Context, id: string, options: Common): Promise<number> {
  const view = await find(context, id);
  if (typeof view === 'number') return view;
  const answer = await context.reader.effects.reconcile(view.operation);
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json !== true) say(context, `looked: ${answer.value.outcome}`);
  return tell(context, answer.value.effect, options);
}

export interface ResolveOptions extends Common {
  readonly to: EffectResolution['to'];
  readonly by: string;
  readonly reason: string;
  readonly result?: string;
}

/** A person says what became of an uncertain effect. */
export async function resolveEffect(context: Context, id: string, options: ResolveOptions): Promise<number> {
  const view = await find(context, id);
  if (typeof view === 'number') return view;
  const { to, by, reason } = options;
  let result: unknown = null;
  try {
    if (options.result !== undefined) result = JSON.parse(options.result);
  } catch {
    return usage(context, 'the result has to be JSON');
  }
  const answer = await context.reader.effects.resolve(view.operation, {
    to,
    by,
    reason,
    ...(result === null ? {} : { result }),
  });
  if (!answer.ok) return failed(context, answer.failure);
  tell(context, answer.value, options);
  return exitCodes.ok;
}

/** Follows one operation until it ends. */
export async function watchEffect(
  context: Context,
  id: string,
  options: Common & { seconds?: number },
): Promise<number> {
  const view = await find(context, id);
  return typeof view === 'number' ? view : waitFor(context, view, options.seconds ?? LONGEST_WAIT_SECONDS, options);
}

/** Recomputes the hash chain of a history. */
export async function verifyEffect(context: Context, id: string, options: Common): Promise<number> {
  const view = await find(context, id);
  if (typeof view === 'number') return view;
  const answer = await context.reader.effects.history(view.operation);
  if (!answer.ok) return failed(context, answer.failure);
  const { records } = answer.value;
  const verified = verifyHistory(view.operation, records);
  if (!verified.ok) {
    const { version, reason } = verified.failure;
    if (options.json === true) printJson(context, { operation: view.operation, whole: false, version, reason });
    say(context, `the history is broken at version ${version}: ${reason}`);
    return exitCodes.failed;
  }
  if (options.json === true)
    printJson(context, { operation: view.operation, whole: true, versions: records.length, head: verified.value });
  else print(context, `${view.operation}: ${records.length} versions, unbroken, head ${verified.value}`);
  return exitCodes.ok;
}

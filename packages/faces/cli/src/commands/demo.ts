import { randomUUID } from 'node:crypto';
import type { Answer } from '@headway/client';
import type { SignalView, WorkView } from '@headway/contracts';
import { ok } from '@headway/kernel';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { type DemoEvent, demoScript, demoWorks, type Step } from '../demo/script.ts';
import { exitCodes } from '../exit-codes.ts';
import { closingText, worksText } from '../signal-text.ts';

export interface DemoOptions {
  /** Seconds between steps. */
  readonly pace: number;
  readonly release?: boolean;
  readonly json?: boolean;
}

/** Letters of a run's name: enough that two runs on one server are apart. */
const RUN_LETTERS = 4;

/** What a step came to, as it is told in JSON. */
interface Told {
  readonly step: number;
  readonly title: string;
  readonly works: readonly Pick<WorkView, 'work' | 'class' | 'openSignal'>[];
  readonly signals: readonly Pick<SignalView, 'signal' | 'kind' | 'state' | 'works'>[];
}

/** Plays a small fleet against the running product, step by step, and tells what Headway makes of it. */
export async function demo(context: Context, options: DemoOptions): Promise<number> {
  const readiness = await context.reader.readiness();
  if (!readiness.ok) return failed(context, readiness.failure);
  const run = randomUUID().replaceAll('-', '').slice(0, RUN_LETTERS);
  const steps = demoScript(run, Date.now());
  const narrate = (text: string) => {
    if (options.json !== true) print(context, text);
  };
  narrate(`A small fleet plays at ${context.url} under the names demo-${run}-…`);
  narrate(`Look at it while it plays: ${context.url}/`);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  let position: string | undefined;
  try {
    for (const [index, step] of steps.entries()) {
      if (stop.signal.aborted) break;
      narrate(`\n[${index + 1}/${steps.length}] ${step.title}`);
      narrate(`      ${step.says}`);
      const played = await play(context, step, position);
      if (!played.ok) return failed(context, played.failure);
      position = played.value ?? position;
      const seen = await look(context, step, position);
      if (!seen.ok) return failed(context, seen.failure);
      const { works, signals } = seen.value;
      for (const line of toldLines(works, signals)) narrate(`      ${line}`);
      narrate(`      ${step.lesson}`);
      if (options.json === true) printJson(context, toldStep(index + 1, step, works, signals));
      if (index + 1 < steps.length) await pause(options.pace * 1_000, stop.signal);
    }
    if (options.release === true) await release(context, demoWorks(steps));
    for (const line of farewell(run, context.url, options.release === true)) narrate(line);
    return exitCodes.ok;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Reports what happens in a step; the position that covers it, or `null` where nothing was written. */
async function play(context: Context, step: Step, after: string | undefined): Promise<Answer<string | null>> {
  if (step.events.length > 0) {
    const answer = await context.reader.report(step.events.map(cloudEvent));
    if (!answer.ok) return answer;
    const refusal = answer.value.events.find((one) => one.verdict === 'refused');
    if (refusal?.verdict === 'refused') say(context, `refused: ${refusal.problem.detail}`);
    return ok(answer.value.position);
  }
  if (step.acknowledges === undefined) return ok(null);
  const { work, as, intent, text } = step.acknowledges;
  const open = await context.reader.signals({ state: 'open', work, after });
  if (!open.ok) return open;
  const [signal] = open.value.items;
  if (signal === undefined) {
    say(context, `${work} has no open signal to answer`);
    return ok(null);
  }
  const answer = await context.reader.reply(signal.signal, { intent, from: as, text });
  return answer.ok ? ok(answer.value.position) : answer;
}

const cloudEvent = ({ work, type, data }: DemoEvent): object => ({
  specversion: '1.0',
  id: randomUUID(),
  source: 'headway/demo',
  subject: work,
  type,
  time: new Date().toISOString(),
  data,
});

async function look(
  context: Context,
  step: Step,
  after: string | undefined,
): Promise<Answer<{ works: WorkView[]; signals: SignalView[] }>> {
  const works: WorkView[] = [];
  const signals = new Map<string, SignalView>();
  for (const work of step.look) {
    // The signals first: once the view has them, it has the classes they were raised by.
    const concerning = await context.reader.signals({ work, after });
    if (!concerning.ok) return concerning;
    for (const signal of concerning.value.items) signals.set(signal.signal, signal);
    const view = await context.reader.work(work, { after });
    if (!view.ok) return view;
    works.push(view.value);
  }
  return ok({ works, signals: [...signals.values()] });
}

function toldLines(works: readonly WorkView[], signals: readonly SignalView[]): string[] {
  return [
    ...works.map(({ work, class: is, phase, assessment }) =>
      oneLine(`→ ${work} is ${is}${phase === 'claimed' ? '' : `, ${phase}`}: ${assessment?.reason ?? ''}`),
    ),
    ...signals.map((signal) =>
      oneLine(
        `→ signal ${signal.signal.slice(0, 12)} (${signal.kind}) for ${worksText(signal)}: ${closingText(signal)}`,
      ),
    ),
  ];
}

const toldStep = (step: number, { title }: Step, works: readonly WorkView[], signals: readonly SignalView[]): Told => ({
  step,
  title,
  works: works.map(({ work, class: is, openSignal }) => ({ work, class: is, openSignal })),
  signals: signals.map(({ signal, kind, state, works: of }) => ({ signal, kind, state, works: of })),
});

async function release(context: Context, works: readonly string[]): Promise<void> {
  const events = works.map((work) => ({
    work,
    type: 'headway.work.released',
    data: { by: 'person', reason: 'The demo is over.' },
  }));
  const answer = await context.reader.report(events.map(cloudEvent));
  if (!answer.ok) failed(context, answer.failure);
}

const farewell = (run: string, url: string, released: boolean): string[] => [
  '',
  'That was the play. What you saw, you can look at again:',
  `  the fleet    ${url}/`,
  `  the loop     ${url}/works/demo-${run}-looping`,
  `  the report   ${url}/report   or: headway report`,
  `  all signals  headway signal list --all --to demo-lead`,
  released
    ? 'The works of the demo are released: they raise nothing more.'
    : 'The works stay as they are. `headway demo --release` plays again and lets go of its works at the end.',
];

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}

import type { Answer } from '@headway/client';
import { limits, type Page, type TrajectoryClass, type WorkView } from '@headway/contracts';
import { ok } from '@headway/kernel';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from '../read-own-writes.ts';

export interface StatusOptions {
  readonly class?: string;
  readonly after?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** Pages of works that one table is made of. */
const PAGES = 20;
/** Changes that come within this time are shown together, in milliseconds. */
const TOGETHER_MS = 200;

/** The fleet as a table, what needs a person first. */
export async function status(context: Context, options: StatusOptions): Promise<number> {
  const shown = await show(context, options);
  if (shown !== exitCodes.ok || options.watch !== true) return shown;
  return watchStatus(context, options);
}

async function show(context: Context, options: StatusOptions): Promise<number> {
  const answer = await readOwnWrites(context, options.after, (after) => everyWork(context, options.class, after));
  if (!answer.ok) return failed(context, answer.failure);
  const { works, position } = answer.value;
  works.sort(byUrgency);
  if (options.json === true) printJson(context, { position, works });
  else if (works.length === 0) print(context, nothing(options.class));
  else for (const line of table(works, context)) print(context, line);
  return exitCodes.ok;
}

async function everyWork(context: Context, only: string | undefined, after: string | undefined) {
  const works: WorkView[] = [];
  let cursor: string | undefined;
  let position: string | null = null;
  for (let page = 0; page < PAGES; page += 1) {
    const answer: Answer<Page<WorkView>> = await context.reader.works({
      after,
      cursor,
      class: only,
      limit: limits.page,
    });
    if (!answer.ok) return answer;
    works.push(...answer.value.items);
    position = answer.value.position;
    if (answer.value.next === null) return ok({ works, position });
    cursor = answer.value.next;
  }
  say(context, `more than ${works.length} works: narrow it with --class`);
  return ok({ works, position });
}

async function watchStatus(context: Context, options: StatusOptions): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  let due: NodeJS.Timeout | null = null;
  try {
    for await (const item of context.reader.stream({ signal: stop.signal })) {
      if (item.kind === 'refused' || item.kind === 'unavailable') return failed(context, item);
      if (item.kind === 'interrupted') say(context, `${item.reason}; again in ${item.waitMs} ms`);
      else
        due ??= setTimeout(() => {
          due = null;
          if (context.stdout.isTTY === true && options.json !== true) context.stdout.write('\x1b[2J\x1b[H');
          void show(context, options);
        }, TOGETHER_MS);
    }
    return exitCodes.ok;
  } finally {
    if (due !== null) clearTimeout(due);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

const urgency: Readonly<Record<TrajectoryClass, number>> = {
  thrashing: 0,
  stagnating: 1,
  'awaiting-wake': 2,
  unknown: 3,
  slow: 4,
  productive: 5,
};
const finished = (work: WorkView): number => (work.phase === 'done' || work.phase === 'released' ? 1 : 0);

function byUrgency(a: WorkView, b: WorkView): number {
  return (
    finished(a) - finished(b) ||
    Number(b.openSignal !== null) - Number(a.openSignal !== null) ||
    urgency[a.class] - urgency[b.class] ||
    (a.work < b.work ? -1 : 1)
  );
}

const colours: Readonly<Record<TrajectoryClass, number>> = {
  thrashing: 31,
  stagnating: 31,
  'awaiting-wake': 33,
  unknown: 90,
  slow: 39,
  productive: 32,
};

function* table(works: readonly WorkView[], context: Context): Generator<string> {
  const rows = works.map((work) => ({
    class: work.class,
    cells: [
      work.work,
      work.worker ?? '-',
      work.phase === 'claimed' || work.phase === 'unclaimed' ? work.class : `${work.class} (${work.phase})`,
      String(work.attempts),
      work.assessment?.gate ?? '-',
      work.assessment?.reason ?? '-',
      work.since ?? '-',
    ].map(oneLine),
  }));
  const head = ['WORK', 'AGENT', 'CLASS', 'ATTEMPTS', 'GATE', 'REASON', 'SINCE'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const wide = widths.reduce((sum, width) => sum + width + 2, -2);
  // The reason is the widest by far: it gives way where the terminal is narrower than the table.
  const columns = context.stdout.isTTY === true ? (context.stdout.columns ?? 0) : 0;
  if (columns > 0 && wide > columns) widths[5] = Math.max(12, (widths[5] ?? 0) - (wide - columns));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => fit(cell, widths[column] ?? 0, column === cells.length - 1))
      .join('  ')
      .trimEnd();
  yield line(head);
  const coloured = context.stdout.isTTY === true && !context.environment.NO_COLOR;
  for (const row of rows) yield coloured ? `\x1b[${colours[row.class]}m${line(row.cells)}\x1b[0m` : line(row.cells);
}

function fit(cell: string, width: number, last: boolean): string {
  if (cell.length > width) return `${cell.slice(0, width - 1)}…`;
  return last ? cell : cell.padEnd(width);
}

const nothing = (only: string | undefined): string =>
  only === undefined
    ? 'No work has been reported yet. In a repository, put `headway gate NAME --` before the command that checks the work:\n  headway gate test --work W-1 -- npm test'
    : `No work is ${only}.`;

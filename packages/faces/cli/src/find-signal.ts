import type { Answer } from '@headway/client';
import { limits, type Page, type SignalView } from '@headway/contracts';
import { ok } from '@headway/kernel';
import { type Context, failed, say } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { readOwnWrites } from './read-own-writes.ts';

/** Digits of a signal's id that are shown. */
export const SHOWN_ID = 12;
/** Pages of signals that are looked through for one that begins so. */
const PAGES = 20;
/** The shortest beginning of a signal's id that may stand for it. */
const SHORTEST_PREFIX = 6;

/** The signal of an id, or of its beginning; a number is the exit code, and why was said. */
export async function findSignal(context: Context, id: string, after?: string): Promise<SignalView | number> {
  const found = await readOwnWrites(context, after, (position) => signalsLike(context, id, position));
  if (!found.ok) return failed(context, found.failure);
  const [signal, another] = found.value;
  if (signal === undefined) {
    say(context, `there is no signal ${id}; \`headway signal list\` shows the open ones`);
    return exitCodes.refused;
  }
  if (another !== undefined) {
    say(context, `${id} is the beginning of more than one signal: write more of it`);
    return exitCodes.usage;
  }
  return signal;
}

/** Signals with this id, else those that begin with it: at most two, since one too many is as good as more. */
async function signalsLike(context: Context, id: string, after: string | undefined): Promise<Answer<SignalView[]>> {
  const byPrefix: SignalView[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const answer: Answer<Page<SignalView>> = await context.reader.signals({ after, cursor, limit: limits.page });
    if (!answer.ok) return answer;
    for (const signal of answer.value.items) {
      if (signal.signal === id) return ok([signal]);
      if (id.length >= SHORTEST_PREFIX && signal.signal.startsWith(id) && byPrefix.length < 2) byPrefix.push(signal);
    }
    if (answer.value.next === null) break;
    cursor = answer.value.next;
  }
  return ok(byPrefix);
}

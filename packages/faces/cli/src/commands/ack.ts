import { randomUUID } from 'node:crypto';
import type { Answer } from '@headway/client';
import { limits, type Page, type SignalView } from '@headway/contracts';
import { ok } from '@headway/kernel';
import { type Context, failed, print, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from './status.ts';
import { send } from './work.ts';

export interface AckOptions {
  readonly agree?: boolean;
  readonly reject?: boolean;
  readonly as?: string;
  readonly text?: string;
  readonly json?: boolean;
}

/** Pages of signals that are looked through. */
const PAGES = 20;
/** Digits of a signal's id that are shown. */
const SHOWN_ID = 12;
/** The shortest beginning of a signal's id that may stand for it. */
const SHORTEST_PREFIX = 6;

/** Answers a signal on its thread. Only a recipient may: who answers is said, or is the only one it was sent to. */
export async function ack(context: Context, id: string, options: AckOptions): Promise<number> {
  if ((options.agree === true) === (options.reject === true)) {
    say(context, 'say one of --agree and --reject');
    return exitCodes.usage;
  }
  const found = await readOwnWrites(context, undefined, (after) => findSignal(context, id, after));
  if (!found.ok) return failed(context, found.failure);
  const [signal, another] = found.value;
  if (signal === undefined) {
    say(context, `there is no signal ${id}; \`headway status --json\` shows the open ones`);
    return exitCodes.refused;
  }
  if (another !== undefined) {
    say(context, `${id} is the beginning of more than one signal: write more of it`);
    return exitCodes.usage;
  }
  if (signal.to.length === 0) {
    say(context, 'nobody can answer this signal: its work was not claimed. `headway work claim` says who is on a work');
    return exitCodes.refused;
  }
  const from = options.as ?? (signal.to.length === 1 ? signal.to[0] : undefined);
  if (from === undefined) {
    say(context, `who answers? It was sent to ${signal.to.join(', ')}: say --as NAME`);
    return exitCodes.usage;
  }
  if (signal.state !== 'open') say(context, `this signal is ${signal.state} already`);
  const sent = await send(
    context,
    'headway.signal.sent',
    signal.works[0] ?? '',
    { json: options.json ?? false },
    {
      signal: randomUUID(),
      thread: signal.signal,
      inReplyTo: signal.signal,
      intent: options.agree === true ? 'AGREE' : 'REJECT',
      from,
      to: signal.to.filter((name) => name !== from),
      text: options.text ?? '',
    },
  );
  if (sent !== exitCodes.ok || options.json === true) return sent;
  return tellState(context, signal.signal, from);
}

/** Whether the answer counted is known as soon as the signaller has judged it. */
async function tellState(context: Context, id: string, from: string): Promise<number> {
  const found = await readOwnWrites(context, undefined, (after) => findSignal(context, id, after));
  if (!found.ok) return failed(context, found.failure);
  const state = found.value[0]?.state;
  if (state !== 'open') {
    print(context, `signal ${id.slice(0, SHOWN_ID)}: ${state ?? 'gone'}`);
    return exitCodes.ok;
  }
  say(context, `the signal is still open: ${from} is not one of those it was sent to`);
  return exitCodes.refused;
}

/** Signals with this id, else those that begin with it: at most two, since one too many is as good as more. */
async function findSignal(context: Context, id: string, after: string | undefined): Promise<Answer<SignalView[]>> {
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

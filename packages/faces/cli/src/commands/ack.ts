import { randomUUID } from 'node:crypto';
import { type Context, print, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { findSignal, SHOWN_ID } from '../find-signal.ts';
import { closingText } from '../signal-text.ts';
import { send } from './work.ts';

export interface AckOptions {
  readonly agree?: boolean;
  readonly reject?: boolean;
  readonly as?: string;
  readonly text?: string;
  readonly json?: boolean;
}

/** Answers a signal on its thread. Only a recipient may: who answers is said, or is the only one it was sent to. */
export async function ack(context: Context, id: string, options: AckOptions): Promise<number> {
  if ((options.agree === true) === (options.reject === true)) {
    say(context, 'say one of --agree and --reject');
    return exitCodes.usage;
  }
  const signal = await findSignal(context, id);
  if (typeof signal === 'number') return signal;
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
  const signal = await findSignal(context, id);
  if (typeof signal === 'number') return signal;
  if (signal.state !== 'open') {
    print(context, `signal ${id.slice(0, SHOWN_ID)}: ${closingText(signal)}`);
    return exitCodes.ok;
  }
  say(context, `the signal is still open: ${from} is not one of those it was sent to`);
  return exitCodes.refused;
}

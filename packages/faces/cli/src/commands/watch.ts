import type { SignalView, WorkView } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { closingText, worksText } from '../signal-text.ts';

/** Prints changes as they come, until it is interrupted: a line each for people, or JSON lines. */
export async function watch(
  context: Context,
  options: { readonly work?: string; readonly json?: boolean },
): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    for await (const item of context.reader.stream({ signal: stop.signal, work: options.work })) {
      if (item.kind === 'refused' || item.kind === 'unavailable') return failed(context, item);
      if (item.kind === 'interrupted') say(context, `${item.reason}; again in ${item.waitMs} ms`);
      else if (options.json === true) printJson(context, { id: item.id, event: item.event, data: item.data });
      else print(context, line(item.event, item.data));
    }
    return exitCodes.ok;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function line(event: string, data: unknown): string {
  if (event === 'work') {
    const { work, class: is, assessment } = data as WorkView;
    return oneLine(`${work}  ${is}  ${assessment?.reason ?? ''}`);
  }
  if (event === 'signal') {
    const signal = data as SignalView;
    return oneLine(
      `${worksText(signal)}  signal ${signal.kind} ${closingText(signal)}  ${signal.reason}  ${signal.signal}`,
    );
  }
  return oneLine(`${event}  ${JSON.stringify(data)}`);
}

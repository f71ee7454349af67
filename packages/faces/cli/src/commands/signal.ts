import { randomUUID } from 'node:crypto';
import { limits, type SignalView } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { findSignal, SHOWN_ID } from '../find-signal.ts';
import { readOwnWrites } from '../read-own-writes.ts';
import { agoText, closingText, worksText } from '../signal-text.ts';
import { columns } from '../table.ts';
import { type ReportOptions, send } from './work.ts';

export interface ListOptions {
  readonly state?: string;
  readonly all?: boolean;
  readonly kind?: string;
  readonly work?: string;
  readonly to?: string;
  readonly after?: string;
  readonly json?: boolean;
}

/** Signals, the open ones first, then the newest of the others; what is more than one page is said. */
export async function listSignals(context: Context, options: ListOptions): Promise<number> {
  const { kind, work, to } = options;
  const states = options.state === undefined ? (options.all === true ? [undefined] : ['open']) : [options.state];
  const answer = await readOwnWrites(context, options.after, (after) =>
    context.reader.signals({ after, kind, work, to, state: states[0], limit: limits.page }),
  );
  if (!answer.ok) return failed(context, answer.failure);
  const { items, next, position } = answer.value;
  const signals = [...items].sort((one, other) => Number(other.state === 'open') - Number(one.state === 'open'));
  if (options.json === true) {
    printJson(context, { position, signals, next });
    return exitCodes.ok;
  }
  if (signals.length === 0)
    print(
      context,
      options.all === true ? 'There is no signal.' : 'No signal is open. `headway signal list --all` shows the others.',
    );
  else for (const line of table(signals)) print(context, line);
  if (next !== null) say(context, `there are more than ${limits.page}: narrow it with --kind, --work or --to`);
  return exitCodes.ok;
}

function table(signals: readonly SignalView[]): string[] {
  const now = Date.now();
  return columns(
    ['SIGNAL', 'STATE', 'KIND', 'WORKS', 'SINCE', 'TO', 'REASON'],
    signals.map((signal) => [
      signal.signal.slice(0, SHOWN_ID),
      signal.state,
      signal.kind,
      worksText(signal),
      agoText(signal.raisedAt, now),
      peopleText(signal.to),
      signal.reason,
    ]),
  );
}

const peopleText = (to: readonly string[]): string =>
  to.length === 0 ? 'nobody' : to.length > 2 ? `${to.slice(0, 2).join(', ')} and ${to.length - 2} more` : to.join(', ');

/** One signal with everything that is known of it, and how to answer it. */
export async function showSignal(
  context: Context,
  id: string,
  options: { readonly after?: string; readonly json?: boolean },
): Promise<number> {
  const signal = await findSignal(context, id, options.after);
  if (typeof signal === 'number') return signal;
  if (options.json === true) {
    printJson(context, signal);
    return exitCodes.ok;
  }
  for (const line of described(signal)) print(context, oneLine(line));
  return exitCodes.ok;
}

function described(signal: SignalView): string[] {
  const lines = [
    `Signal ${signal.signal}`,
    `State: ${closingText(signal)}${signal.closedAt === null ? '' : `, at ${signal.closedAt}`}`,
    `Kind: ${signal.kind}${signal.rule === null ? '' : ` by ${signal.rule}`}`,
    `Reason: ${signal.reason}`,
    `Works: ${signal.works.length === 0 ? 'none any more' : signal.works.join(', ')}`,
    `Gate: ${signal.gate ?? 'none'}`,
    `Signature: ${signal.signature ?? 'none'}`,
    `Raised: ${signal.raisedAt}`,
    `To: ${signal.to.length === 0 ? 'nobody: the work was not claimed' : signal.to.join(', ')}`,
  ];
  if (signal.state !== 'open') return lines;
  const [first, second] = signal.to;
  const as = first === undefined || second === undefined ? '' : ` --as ${first}`;
  return [
    ...lines,
    `Answer: headway ack ${signal.signal.slice(0, SHOWN_ID)} --agree${as}   (or --reject)`,
    ...(signal.works[0] === undefined ? [] : [`What may be done: headway recover ${signal.works[0]}`]),
  ];
}

export interface SendOptions extends ReportOptions {
  readonly intent: string;
  readonly as: string;
  readonly to?: readonly string[];
  readonly thread?: string;
  readonly inReplyTo?: string;
  readonly text: string;
}

/** Sends a message on a thread of a work. It acknowledges nothing: `headway ack` does. */
export async function sendSignal(context: Context, work: string, options: SendOptions): Promise<number> {
  if (options.intent === 'AGREE' || options.intent === 'REJECT') {
    say(context, 'AGREE and REJECT answer a signal: use `headway ack SIGNAL --agree` or `--reject`');
    return exitCodes.usage;
  }
  const signal = randomUUID();
  return send(context, 'headway.signal.sent', work, options, {
    signal,
    thread: options.thread ?? signal,
    inReplyTo: options.inReplyTo ?? null,
    intent: options.intent,
    from: options.as,
    to: options.to ?? [],
    text: options.text,
  });
}

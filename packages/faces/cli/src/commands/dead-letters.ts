import type { Answer } from '@headway/client';
import { type DeadLetterView, limits, type Page } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export interface ListOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export interface ActOptions {
  readonly why: string;
  readonly as?: string;
  readonly json?: boolean;
}

/** Pages of dead letters that one list is made of. */
const PAGES = 20;

/** The dead letters: what could not be handled, and what waits behind it. */
export async function listDeadLetters(context: Context, options: ListOptions): Promise<number> {
  const letters: DeadLetterView[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const answer: Answer<Page<DeadLetterView>> = await context.reader.deadLetters({
      state: options.state,
      cursor,
      limit: limits.page,
    });
    if (!answer.ok) return failed(context, answer.failure);
    letters.push(...answer.value.items);
    if (answer.value.next === null) break;
    cursor = answer.value.next;
  }
  if (options.json === true) printJson(context, { deadLetters: letters });
  else if (letters.length === 0) print(context, 'No dead letters: everything could be handled.');
  else for (const letter of letters) print(context, line(letter));
  return exitCodes.ok;
}

const line = ({ letter, work, state, waiting, attempts, error }: DeadLetterView): string =>
  oneLine(`${letter}  ${work ?? '-'}  ${state}  tried ${attempts}, ${waiting} waiting  ${error}`);

export async function showDeadLetter(context: Context, id: string, options: ListOptions): Promise<number> {
  const answer = await context.reader.deadLetter(id);
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json === true) {
    printJson(context, answer.value);
    return exitCodes.ok;
  }
  for (const [name, value] of Object.entries(answer.value))
    if (value !== null) print(context, `${name.padEnd(12)}${oneLine(String(value))}`);
  return exitCodes.ok;
}

/** Retries or drops a dead letter and tells what came of it; `refused` where it failed again. */
export async function actOnDeadLetter(
  context: Context,
  id: string,
  verb: 'retry' | 'drop',
  options: ActOptions,
): Promise<number> {
  const acted = await context.reader.actOnDeadLetter(id, verb, { why: options.why, as: options.as });
  if (!acted.ok) return failed(context, acted.failure);
  const answer = await context.reader.deadLetter(id, { after: acted.value.position });
  if (!answer.ok) return failed(context, answer.failure);
  const letter = answer.value;
  if (options.json === true) printJson(context, letter);
  if (letter.state === 'open') {
    say(context, `${id} failed again: ${letter.error}`);
    return exitCodes.refused;
  }
  if (options.json !== true)
    print(context, letter.state === 'dropped' ? `${id}: dropped` : `${id}: tried again${whoTries(letter)}`);
  return exitCodes.ok;
}

const whoTries = ({ reader }: DeadLetterView): string =>
  reader === 'projection' ? ', and handled' : `; the ${reader} tells within seconds if it fails again`;

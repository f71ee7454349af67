import { type Context, failed, printJson } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from '../read-own-writes.ts';

/** Prints a work's brief: markdown, with the redirect block on top where a signal is open. */
export async function brief(
  context: Context,
  work: string,
  options: { readonly after?: string; readonly json?: boolean },
): Promise<number> {
  const answer = await readOwnWrites(context, options.after, (after) => context.reader.brief(work, { after }));
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json === true) printJson(context, { work, brief: answer.value });
  else context.stdout.write(answer.value.endsWith('\n') ? answer.value : `${answer.value}\n`);
  return exitCodes.ok;
}

import type { RecoverView } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from '../read-own-writes.ts';

/** Prints what may be done about a work that is stuck, to be copied. It does none of it. */
export async function recover(
  context: Context,
  work: string,
  options: { readonly after?: string; readonly json?: boolean },
): Promise<number> {
  const answer = await readOwnWrites(context, options.after, (after) => context.reader.recover(work, { after }));
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json === true) printJson(context, answer.value);
  else for (const line of linesOf(answer.value)) print(context, line);
  return exitCodes.ok;
}

function linesOf(view: RecoverView): string[] {
  const lines = [oneLine(`${view.work}: ${view.class}. ${view.reason ?? ''}`)];
  if (view.signal !== null) lines.push(oneLine(`Signal ${view.signal.signal} is open since ${view.signal.raisedAt}.`));
  if (view.none !== null) lines.push(oneLine(`Nothing to propose. ${view.none}`));
  else lines.push('', 'Nothing of this was done. Copy what you want done:');
  for (const { title, because, command } of view.proposals)
    lines.push('', oneLine(`# ${title}. ${because}`), oneLine(command));
  if (view.openDelegations.length > 0) {
    lines.push('', 'Delegations that were opened and never completed:');
    for (const { delegation, child, since } of view.openDelegations)
      lines.push(
        oneLine(`  ${delegation}${child === null ? '' : ` to ${child}`}${since === null ? '' : `, since ${since}`}`),
      );
    if (view.moreDelegations > 0) lines.push(`  and ${view.moreDelegations} more`);
  }
  return lines;
}

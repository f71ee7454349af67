import type { Answer, Failure } from '@headway/client';
import { type Context, say } from './context.ts';

/**
 * A read that covers what this user reported last. Only a position that was asked for by `--after` makes the read fail
 * when the view does not get there in time; else what there is is shown, and that is said.
 */
export async function readOwnWrites<Value>(
  context: Context,
  asked: string | undefined,
  read: (after: string | undefined) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  const after = asked ?? context.memory.position() ?? undefined;
  const answer = await read(after);
  if (answer.ok || asked !== undefined || after === undefined || !mayBeBehind(answer.failure)) return answer;
  const plain = await read(undefined);
  if (plain.ok) say(context, 'your last report is not in this view yet');
  return plain;
}

const mayBeBehind = (failure: Failure): boolean =>
  failure.kind === 'refused'
    ? failure.problem.code === 'position_lost' || failure.problem.code === 'invalid_parameter'
    : failure.reason.includes('answered 504');

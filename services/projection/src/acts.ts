import { randomUUID } from 'node:crypto';
import {
  type ActData,
  type ActRequest,
  encodeRecord,
  formatPosition,
  type OperatorAct,
  type PositionText,
  type Problem,
  problem,
  subjects,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { Ports } from './ports.ts';

export interface Acted {
  readonly act: string;
  /** Pass as `?after=` to read views that cover the act. */
  readonly position: PositionText;
}

/** Writes down what an operator does. What follows from it is done by whoever reads ACTS. */
export async function writeAct<Type extends keyof ActData>(
  log: Pick<Ports['log'], 'append'>,
  who: { readonly tenant: string; readonly roles: readonly string[] },
  request: ActRequest,
  act: { readonly type: Type; readonly data: ActData[Type] },
): Promise<Result<Acted, Problem>> {
  const id = randomUUID();
  const by = `${who.roles.join('+')}${request.as === undefined ? '' : ` (${request.as})`}`;
  const event = { ...act, id, time: new Date().toISOString(), by, why: request.why } as OperatorAct;
  const answer = await log.append({
    subject: subjects.act(who.tenant),
    payload: encodeRecord({ v: 1, events: [event] }),
    messageId: id,
  });
  return answer.outcome === 'appended' || answer.outcome === 'duplicate'
    ? ok({ act: id, position: formatPosition(answer.position) })
    : refused(problem('log_unavailable', `The act was not taken down: ${answer.reason}. Try again.`));
}

import { aggregateOf, type OperatorAct, parseLetterId } from '@headway/contracts';
import type { ArchivedMessage, Changes } from '@headway/readmodel';
import type { Decode } from '../decode.ts';
import { Admission } from './admission.ts';
import { deadLetter } from './dead-letter.ts';
import { replay } from './replay.ts';

/**
 * Does what operators have asked for, in the order they asked: retries and drops dead letters, takes down and calls off
 * rebuilds. Each act is in the archive with who and why, and is done in the transaction that moves past it: once.
 */
export async function applyActs(changes: Changes, messages: readonly ArchivedMessage[], decode: Decode): Promise<void> {
  await changes.archive(messages);
  const admission = await Admission.open(changes, messages);
  for (const message of messages) {
    if (!admission.admits(message)) continue;
    const decoded = decode(message);
    if (!decoded.ok) admission.refuse(deadLetter(message, decoded.failure));
    else if (decoded.value.kind === 'act')
      await apply(changes, decoded.value.tenant, decoded.value.act, message, decode);
    else admission.refuse(deadLetter(message, 'this does not belong in ACTS'));
  }
  await admission.save(changes);
}

/** Acts of a kind that is not known here are for others; they are kept and passed over. */
async function apply(
  changes: Changes,
  tenant: string,
  act: OperatorAct,
  { recordedAt: at }: ArchivedMessage,
  decode: Decode,
): Promise<void> {
  const { by, why } = act;
  switch (act.type) {
    case 'headway.dead-letter.retried':
      return closeAndReplay(changes, tenant, act.data.letter, { state: 'retried', by, why, at }, decode);
    case 'headway.dead-letter.dropped':
      return closeAndReplay(changes, tenant, act.data.letter, { state: 'dropped', by, why, at }, decode);
    case 'headway.rebuild.requested':
      return changes.requestRebuild(act.data.projection, { by, why, at });
    case 'headway.rebuild.cancelled':
      return changes.cancelRebuild(act.data.projection, { by, why, at });
  }
}

async function closeAndReplay(
  changes: Changes,
  tenant: string,
  id: string,
  closing: Parameters<Changes['closeLetter']>[1],
  decode: Decode,
): Promise<void> {
  const letter = parseLetterId(id);
  if (letter === null) return;
  const [message] = await changes.readArchived([letter]);
  if (message === undefined) return;
  const aggregate = aggregateOf(message.subject);
  if (aggregate.tenant !== null && aggregate.tenant !== tenant) return;
  // Closed first: where the message fails again, that opens it again.
  if (!(await changes.closeLetter(letter, closing))) return;
  if (letter.reader === 'projection') await replay(changes, aggregate.key, decode);
}

import { STREAMS } from '@headway/contracts';
import { type ArchivedMessage, type Changes, fromArchive } from '@headway/readmodel';
import type { Decode } from '../decode.ts';
import { projectEvidence } from './evidence.ts';
import { projectRecord } from './record.ts';

/** Messages of a held aggregate that are handled at once. */
const REPLAY_PAGE = 500;

/**
 * Handles what waited behind a dead letter, in order, from the archive. Where a message fails, again or anew, the aggregate
 * is held at that one, and what follows it waits on.
 */
export async function replay(changes: Changes, aggregate: string, decode: Decode): Promise<void> {
  const places = await changes.releaseHold(aggregate);
  const archived = fromArchive(changes);
  for (let at = 0; at < places.length; at += REPLAY_PAGE)
    await projectArchived(archived, await changes.readArchived(places.slice(at, at + REPLAY_PAGE)), decode);
}

/** Projects messages that stand in the archive: evidence first, then what was made of it. */
export async function projectArchived(
  changes: Changes,
  messages: readonly ArchivedMessage[],
  decode: Decode,
): Promise<void> {
  const evidence = messages.filter(({ stream }) => stream === STREAMS.evidence);
  const record = messages.filter(({ stream }) => stream === STREAMS.record);
  if (evidence.length > 0) await projectEvidence(changes, evidence, decode);
  if (record.length > 0) await projectRecord(changes, record, decode);
}

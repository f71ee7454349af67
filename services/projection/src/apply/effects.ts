import type { ArchivedMessage, Changes } from '@headway/readmodel';

/** Keeps messages of EFFECTS, byte for byte: what an executor's outbox has published is in the archive before it may go. */
export async function applyEffects(changes: Changes, messages: readonly ArchivedMessage[]): Promise<void> {
  await changes.archive(messages);
}

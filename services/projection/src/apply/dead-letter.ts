import type { ArchivedMessage, Changes, DeadLetterRow } from '@headway/readmodel';

/** Characters of an error that are kept with a dead letter. */
const ERROR_LENGTH = 1_000;

/** The message stays in the archive; the others go on. */
export const deadLetter = (
  { stream, generation, sequence, subject, recordedAt }: ArchivedMessage,
  error: string,
): DeadLetterRow => ({ stream, generation, sequence, subject, error: error.slice(0, ERROR_LENGTH), recordedAt });

/** Archives messages without projecting them, with the reason. */
export async function setAside(changes: Changes, messages: readonly ArchivedMessage[], error: string): Promise<void> {
  await changes.archive(messages);
  await changes.keepDeadLetters(messages.map((message) => deadLetter(message, error)));
}

import { aggregateOf, LETTER_ERROR } from '@headway/contracts';
import type { ArchivedMessage, Changes, DeadLetterRow } from '@headway/readmodel';
import { Admission } from './admission.ts';

/** The dead letter of a message that this service cannot handle. */
export const deadLetter = (
  { stream, generation, sequence, subject, recordedAt }: ArchivedMessage,
  error: string,
): DeadLetterRow => ({
  reader: 'projection',
  stream,
  generation,
  sequence,
  subject,
  aggregate: aggregateOf(subject),
  error: error.slice(0, LETTER_ERROR),
  recordedAt,
});

/** Archives messages without projecting them, with the reason. What belongs to them waits. */
export async function setAside(changes: Changes, messages: readonly ArchivedMessage[], error: string): Promise<void> {
  await changes.archive(messages);
  const admission = await Admission.open(changes, messages);
  for (const message of messages) if (admission.admits(message)) admission.refuse(deadLetter(message, error));
  await admission.save(changes);
}

import type { PolicyCommit } from '@headway/contracts';
import type { ArchivedMessage, PolicyRow } from '@headway/readmodel';

/** A change of a policy as it is kept. */
export const policyRow = (
  tenant: string,
  { events: [{ data }] }: PolicyCommit,
  { generation, sequence, recordedAt }: Pick<ArchivedMessage, 'generation' | 'sequence' | 'recordedAt'>,
): PolicyRow => ({
  tenant,
  version: data.version,
  lane: data.lane,
  numbers: data.numbers,
  by: data.by,
  why: data.why,
  setAt: recordedAt,
  generation,
  sequence,
});

import type { EvidenceEvent } from '@headway/contracts';
import type { UsageSpanRow, WorkKey } from '@headway/readmodel';

/** Times outside are no times of agents, and the store need not hold them. */
const EARLIEST = Date.UTC(1970, 0, 1);
const LATEST = Date.UTC(9_000, 0, 1);

/** The time in which a work had usage, as reported; `null` where the event tells of none, or of one that ends before it begins. */
export function usageSpan({ tenant, work }: WorkKey, event: EvidenceEvent): UsageSpanRow | null {
  if (event.type !== 'headway.usage.recorded') return null;
  const startedAt = Date.parse(event.data.startedAt);
  const endedAt = Date.parse(event.data.endedAt);
  if (!(startedAt >= EARLIEST && endedAt >= startedAt && endedAt < LATEST)) return null;
  return { tenant, work, startedAt, endedAt, costUsd: event.data.costUsd ?? null };
}

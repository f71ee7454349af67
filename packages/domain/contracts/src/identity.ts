import { canonicalJson, digest } from '@headway/kernel';
import type { EventAttributes } from './evidence.ts';

/** The identity of a report for ever: tenant, `source` and `id`, as a SHA-256 in hex. */
export const identityKey = (tenant: string, event: Pick<EventAttributes, 'source' | 'id'>): string =>
  digest('identity', tenant, event.source, event.id);

/**
 * What the reporter said, as a SHA-256 in hex: equal content is a duplicate, other content under the same identity is a
 * conflict. Trace context is not content: a retry may travel in another trace.
 */
export function contentDigest(event: {
  readonly type: string;
  readonly subject?: string | undefined;
  readonly time?: string | undefined;
  readonly incarnation?: number | undefined;
  readonly data: unknown;
}): string {
  const { type, subject, time, incarnation, data } = event;
  return digest('content', canonicalJson({ type, subject, time, incarnation, data }));
}

/** The source under which who grants claims states that a work was claimed; no reporter may use it. */
export const CLAIMS_SOURCE = 'urn:headway:claims';

/**
 * Whether an event may stand in a message of EVIDENCE. Who grants claims writes past ingest, so under its subject nothing counts
 * but that a work was claimed, from its own source: whatever else stands there was never checked, and readers pass over it.
 */
export const mayStandUnder = (
  { claimed }: { readonly claimed?: true },
  { type, source }: { readonly type: string; readonly source: string },
): boolean => claimed !== true || (type === 'headway.work.claimed' && source === CLAIMS_SOURCE);

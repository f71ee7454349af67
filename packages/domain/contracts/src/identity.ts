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

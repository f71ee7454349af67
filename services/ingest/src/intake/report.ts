import {
  CLAIMS_SOURCE,
  contentDigest,
  depthOf,
  type EvidenceEvent,
  identityKey,
  limits,
  type Problem,
  problem,
  readEvent,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { Item } from './forms.ts';

/** The source under which ingest states facts itself; nobody else may use it. */
export const OWN_SOURCE = 'headway/ingest';

/** One event that was understood. */
export interface Report {
  readonly event: EvidenceEvent;
  readonly work: string;
  /** The identity: tenant, source and id. */
  readonly key: string;
  /** Digest of what the reporter said. */
  readonly content: string;
}

/** One event that was not taken, with as much of its identity as could be read. */
export interface RefusedReport {
  readonly id: string | null;
  readonly source: string | null;
  readonly problem: Problem;
}

/** Understands one item of a request. Pure and total. */
export function readReport(tenant: string, item: Item): Result<Report, RefusedReport> {
  if (!item.ok) return refused({ id: null, source: null, problem: item.problem });
  const { raw } = item;
  const fail = (found: Problem) =>
    refused({
      id: textOf(raw, 'id'),
      source: textOf(raw, 'source'),
      problem: item.place === '' ? found : at(item.place, found),
    });
  if (item.bytes === null && depthOf(raw, limits.depth) > limits.depth)
    return fail(problem('too_deep', `The event is nested deeper than ${limits.depth} levels.`));
  if ((item.bytes ?? Buffer.byteLength(JSON.stringify(raw))) > limits.eventBytes)
    return fail(
      problem('event_too_large', `An event has at most ${limits.eventBytes} bytes. Send less of its output or files.`),
    );
  const read = readEvent(raw);
  if (!read.ok) return fail(read.failure);
  const event = read.value;
  for (const name of ['id', 'source', 'subject'] as const)
    if (!isPlainText(event[name]))
      return fail(problem('invalid_event', `\`${name}\` holds a NUL or half a character. Use plain text.`, `/${name}`));
  if (event.source === OWN_SOURCE || event.source === CLAIMS_SOURCE)
    return fail(problem('invalid_event', `\`${event.source}\` is Headway's own source. Use another one.`, '/source'));
  // What was reported, not what was read of it: a default that is added later must not make a retry another content.
  const reported = raw as { data?: unknown };
  const content = contentDigest({ ...event, data: reported.data ?? {} });
  return ok({ event, work: event.subject, key: identityKey(tenant, event), content });
}

const at = (place: string, found: Problem): Problem => ({ ...found, detail: `${place}: ${found.detail}` });

/** NUL cannot be stored as text, and half a surrogate pair has no UTF-8: two such ids would become one. */
const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

function textOf(raw: unknown, name: string): string | null {
  if (raw === null || typeof raw !== 'object') return null;
  const value = (raw as Record<string, unknown>)[name];
  return typeof value === 'string' && value.length <= limits.identityPart ? value : null;
}

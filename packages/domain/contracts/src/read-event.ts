import { ok, type Result, refused } from '@headway/kernel';
import { z } from 'zod';
import { type EvidenceEvent, evidenceData, isEvidenceType } from './evidence.ts';
import { limits } from './limits.ts';
import { type Problem, problem } from './problems.ts';

const identityPart = z.string().min(1).max(limits.identityPart);

const attributes = z.object({
  specversion: z.literal('1.0'),
  id: identityPart,
  source: identityPart,
  subject: z.string().min(1).max(limits.workId),
  time: z.iso.datetime({ offset: true }).optional(),
  incarnation: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).optional(),
  traceparent: z.string().max(limits.name).optional(),
});

/** Types that stand in the log and that no client may report. */
const reservedTypes: ReadonlySet<string> = new Set(['headway.evidence.refused', 'headway.monitor.ticked']);

/**
 * The one boundary where a reported CloudEvent becomes evidence. Total: any JSON value gives either the event, with
 * defaults filled in, or the problem that says what to change. Members of `data` that no rule knows stay in it; extension
 * attributes that Headway does not know are left out.
 */
export function readEvent(raw: unknown): Result<EvidenceEvent, Problem> {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    return refused(problem('invalid_event', 'An event is a JSON object in the CloudEvents 1.0 format.'));
  const candidate = raw as Record<string, unknown>;
  if (depthOf(candidate, limits.depth) > limits.depth)
    return refused(problem('too_deep', `The event is nested deeper than ${limits.depth} levels.`));
  const type = candidate.type;
  if (typeof type !== 'string') return refused(problem('invalid_event', 'The event has no `type`.', '/type'));
  if (reservedTypes.has(type))
    return refused(
      problem('reserved_type', `\`${type}\` is written by Headway itself; clients may not report it.`, '/type'),
    );
  if (!isEvidenceType(type))
    return refused(
      problem('unknown_type', `\`${type}\` is none of: ${Object.keys(evidenceData).join(', ')}.`, '/type'),
    );
  if (candidate.subject === undefined)
    return refused(
      problem('missing_subject', 'Set `subject` to the id of the work that the event is about.', '/subject'),
    );
  const head = attributes.safeParse(candidate);
  if (!head.success) return refused(invalid(head.error, ''));
  const data = evidenceData[type].safeParse(candidate.data ?? {});
  if (!data.success) return refused(invalid(data.error, '/data'));
  return ok({ ...head.data, type, data: data.data } as EvidenceEvent);
}

function invalid(error: z.ZodError, prefix: string) {
  const issue = error.issues[0];
  const path = issue === undefined ? '' : issue.path.map((part) => `/${String(part)}`).join('');
  return problem('invalid_event', `${issue?.message ?? 'Invalid'} at ${prefix}${path || '/'}.`, `${prefix}${path}`);
}

/** Nesting of objects and arrays, counted no further than `most + 1`. Iterative: hostile depth cannot end the process. */
export function depthOf(value: unknown, most: number): number {
  let level: unknown[] = [value];
  let depth = 0;
  while (depth <= most) {
    const next: unknown[] = [];
    let nested = false;
    for (const member of level) {
      if (member === null || typeof member !== 'object') continue;
      nested = true;
      for (const child of Object.values(member)) if (child !== null && typeof child === 'object') next.push(child);
    }
    if (!nested) return depth;
    depth += 1;
    level = next;
  }
  return depth;
}

import { limits, type Problem, problem, type SignalKind, trajectoryClasses } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { z } from 'zod';

/** Rows of one page where the client does not say. */
export const DEFAULT_PAGE = 100;

const limit = z.coerce.number().int().min(1).max(limits.page).default(DEFAULT_PAGE);
const cursor = z.string().max(1_024).optional();
const after = z.string().max(128).optional();
const change = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const signalKinds = ['stagnating', 'thrashing', 'awaiting-wake', 'shared-failure'] as const satisfies SignalKind[];
/** Days that a report looks back, where the client does not say, and at most. */
export const REPORT_DAYS = 30;
export const MOST_REPORT_DAYS = 366;

/** A parameter that is not named here is refused: whoever filters by it would take all for what was asked for. */
export const parameters = {
  one: z.strictObject({ after }),
  works: z.strictObject({ after, cursor, limit, class: z.enum(trajectoryClasses).optional() }),
  timeline: z.strictObject({ after, cursor, limit, order: z.enum(['asc', 'desc']).default('asc') }),
  signals: z.strictObject({
    after,
    cursor,
    limit,
    state: z.enum(['open', 'acknowledged', 'withdrawn', 'superseded']).optional(),
    kind: z.enum(signalKinds).optional(),
    work: z.string().min(1).max(limits.workId).optional(),
    to: z.string().min(1).max(limits.name).optional(),
  }),
  report: z.strictObject({
    after,
    cursor,
    limit,
    days: z.coerce.number().int().min(1).max(MOST_REPORT_DAYS).default(REPORT_DAYS),
  }),
  deadLetters: z.strictObject({
    after,
    cursor,
    limit,
    state: z.enum(['open', 'retried', 'dropped', 'all']).default('open'),
  }),
  stream: z.strictObject({
    since: change.optional(),
    work: z.string().min(1).max(limits.workId).optional(),
    kind: z.enum(signalKinds).optional(),
  }),
} as const;

/** The value of a `Last-Event-ID` header: what `/v1/stream` gave as id. */
export const lastEventId = change;

/** The query of a request in the shape of `schema`; else which parameter has to change and how. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, query: unknown): Result<z.output<Schema>, Problem> {
  const parsed = schema.safeParse(query);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys')
    return refused(invalid(issue.keys[0] ?? 'query', `is no parameter of this path; it takes ${namesOf(schema)}`));
  return refused(invalid(String(issue?.path[0] ?? 'query'), issue?.message ?? 'Invalid'));
}

const namesOf = (schema: z.ZodType): string =>
  schema instanceof z.ZodObject
    ? Object.keys(schema.shape)
        .map((name) => `\`${name}\``)
        .join(', ')
    : 'none';

export const invalid = (name: string, what: string): Problem =>
  problem('invalid_parameter', `\`${name}\`: ${what}.`.replace(/\.\.$/, '.'));

/** A page's end as an opaque text. */
export const writeCursor = (place: unknown): string => Buffer.from(JSON.stringify(place), 'utf8').toString('base64url');

export function readCursor<Schema extends z.ZodType>(
  schema: Schema,
  text: string | undefined,
): Result<z.output<Schema> | null, Problem> {
  if (text === undefined) return ok(null);
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    if (parsed.success) return ok(parsed.data);
  } catch {
    // Not JSON: told like every other text that is no cursor.
  }
  return refused(invalid('cursor', 'is not one that a page has answered with; start without it'));
}

export const sequence = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

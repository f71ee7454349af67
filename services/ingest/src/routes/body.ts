import { type Problem, problem } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { z } from 'zod';

/** A JSON body in the shape of `schema`; else which member has to change and how. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): Result<z.output<Schema>, Problem> {
  if (body === undefined || body === null)
    return refused(problem('invalid_body', 'Send a JSON object with the header `Content-Type: application/json`.'));
  const parsed = schema.safeParse(body);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  const pointer = `/${(issue?.path ?? []).map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
  const where = pointer === '/' ? 'The body' : `\`${pointer.slice(1)}\``;
  return refused(problem('invalid_body', `${where}: ${issue?.message ?? 'is not as it has to be'}.`, pointer));
}

import { type Problem, problem } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { z } from 'zod';

/** A request's body as its schema has it, or the problem that names the first member that is not as it should be. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): Result<z.output<Schema>, Problem> {
  const parsed = schema.safeParse(body ?? {}, { reportInput: false });
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  const pointer = (issue?.path ?? []).map((part) => `/${String(part)}`).join('');
  return refused(problem('invalid_body', `${issue?.message ?? 'Invalid'} at ${pointer || '/'}.`, pointer));
}

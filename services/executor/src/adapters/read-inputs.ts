import { ok, type Result, refused } from '@headway/kernel';
import type { z } from 'zod';

/** What is wrong with a request, and the member of it that has to change, as a JSON pointer. */
interface Malformed {
  readonly detail: string;
  readonly pointer: string;
}

/** The inputs of a request as an adapter's schema reads them, or the first thing that is wrong. A value is never repeated. */
export function readInputs<Inputs>(schema: z.ZodType<Inputs>, inputs: unknown): Result<Inputs, Malformed> {
  const read = schema.safeParse(inputs, { reportInput: false });
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  const pointer = ['/inputs', ...(issue?.path ?? []).map(String)].join('/');
  return refused({ detail: issue?.message ?? 'The inputs are not as they should be.', pointer });
}

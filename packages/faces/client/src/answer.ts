import type { Problem } from '@headway/contracts';
import type { Result } from '@headway/kernel';

/**
 * Why there is no answer. `refused`: the server said no, and the problem says what to change. `unavailable`: nothing is
 * known about what the server did, or it cannot at the moment; asking again may help. Reports are safe to send again.
 */
export type Failure =
  | { readonly kind: 'refused'; readonly problem: Problem }
  | { readonly kind: 'unavailable'; readonly reason: string };

export type Answer<Value> = Result<Value, Failure>;

export const failureText = (failure: Failure): string =>
  failure.kind === 'refused' ? `${failure.problem.title}: ${failure.problem.detail}` : failure.reason;

/** Statuses by which a server says that it cannot now, not that it will not. */
const transient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** What an answer other than a success means. `body` is what came with it. */
export function failureOf(status: number, body: string): Failure {
  const problem = readProblem(body);
  if (transient(status) || problem === null) {
    const said = problem === null ? body.trim().slice(0, 200) : problem.detail;
    return { kind: 'unavailable', reason: `the server answered ${status}${said === '' ? '' : `: ${said}`}` };
  }
  return { kind: 'refused', problem };
}

function readProblem(body: string): Problem | null {
  try {
    const value: unknown = JSON.parse(body);
    if (value === null || typeof value !== 'object') return null;
    const { code, detail } = value as Partial<Problem>;
    if (typeof code !== 'string' || typeof detail !== 'string') return null;
    return { title: code, ...(value as object) } as Problem;
  } catch {
    return null;
  }
}

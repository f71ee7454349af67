/**
 * What is known after one attempt (the error table of design 4.3):
 * - `succeeded`: a complete, authoritative answer; `result` is JSON and kept for ever.
 * - `refused`: the target decided, before it did anything, that it will not.
 * - `not-sent`: not a byte of the request reached the target.
 * - `uncertain`: everything else.
 */
export type SendAnswer =
  | { readonly answer: 'succeeded'; readonly result: unknown }
  | { readonly answer: 'refused'; readonly reason: string }
  | { readonly answer: 'not-sent'; readonly reason: string }
  | { readonly answer: 'uncertain'; readonly reason: string };

/**
 * What a look at the target told:
 * - `present`: the effect of this very operation is there.
 * - `absent`: it is not, by a complete and fresh answer.
 * - `unknown`: the look gave no such answer.
 * - `unobservable`: the target offers no way to look.
 */
export type Observed =
  | { readonly observed: 'present'; readonly result: unknown }
  | { readonly observed: 'absent'; readonly detail: string }
  | { readonly observed: 'unknown'; readonly reason: string }
  | { readonly observed: 'unobservable' };

/** Statuses that say, once complete, that the request was refused before anything was done. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 412, 413, 415, 422, 451]);

export type StatusMeaning = 'success' | 'refused' | 'uncertain';

/**
 * What the status of a complete HTTP answer to a write means. 409 and "already exists" are looked into, never believed; a
 * redirect on a write, any 5xx and 408 are uncertain. 429 is a refusal only where the target decides it before it executes.
 */
export function meaningOfStatus(
  status: number,
  { limitsBeforeExecution }: { limitsBeforeExecution: boolean },
): StatusMeaning {
  if (status >= 200 && status < 300) return 'success';
  if (REFUSALS.has(status)) return 'refused';
  if (status === 429 && limitsBeforeExecution) return 'refused';
  return 'uncertain';
}

/** How far a request had come when it broke. */
export type BrokenAt =
  /** The name was not found, or may not be used. */
  | 'lookup'
  /** No connection: refused, or none in time. */
  | 'connect'
  | 'tls'
  /** A byte of the request may have been handed to the network. */
  | 'written';

/** Until a byte was written nothing can have happened. */
export const answerOfBroken = (at: BrokenAt, reason: string): SendAnswer =>
  at === 'written' ? { answer: 'uncertain', reason } : { answer: 'not-sent', reason };

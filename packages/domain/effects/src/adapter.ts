import type { AdapterClass } from '@headway/contracts';
import type { Result } from '@headway/kernel';
import type { Observed, SendAnswer } from './answers.ts';

/**
 * The one port to the outside world: how effects of one kind reach their target. Only the executor holds adapters, and
 * only adapters hold credentials.
 *
 * What an adapter promises
 * - `prepare` is pure: equal requests give equal plans, on every machine and after every restart. All that the sending
 *   needs stands in the plan; a condition that was not fixed at intent time has no place in a class C adapter.
 * - `send` tries exactly once. It follows no redirect, repeats nothing, and ends within the attempt's time; its sockets
 *   are destroyed then, so that after {@link Adapter.processingMs} more nothing of it can still take effect.
 * - An answer other than `uncertain` is known, never assumed. `refused` and `not-sent` say that this attempt has had no
 *   effect and cannot have one later. Where an adapter throws, the answer counts as `uncertain`.
 * - `observe` changes nothing. `present` and `absent` are complete, fresh answers of the target itself; a listing that
 *   was cut short, an index that may lag, a 5xx or a denied access is `unknown`.
 * - Equal plans with the same operation are one effect in class K (by the key) and in class C (by the condition),
 *   however often they are sent, within `retentionMs` of the first attempt in class K.
 *
 * What it does not promise
 * - That `send` is called at all, or that its answer is kept: the process may die at any point.
 */
export interface Adapter<Plan = unknown> {
  /** As requests name it: `http`, `git.ref`. */
  readonly kind: string;
  readonly class: AdapterClass;
  /** The longest one `send`, or one `observe`, may take in all. */
  readonly timeoutMs: number;
  /** How long after the end of `send` the target may still be working on it. Declared, and counted before any retry. */
  readonly processingMs: number;
  /** Class K: how long the target remembers a key at least. `null` in other classes. */
  readonly retentionMs: number | null;

  /** Reads a request. What it refuses is the caller's mistake: the problem says what to change. */
  prepare(request: AdapterRequest): Result<Prepared<Plan>, AdapterProblem>;

  /** Raises the target's own fence to this epoch, where the target has one; before every start. */
  raiseFence?(plan: Plan, epoch: number, signal: AbortSignal): Promise<void>;

  send(attempt: Attempt<Plan>): Promise<SendAnswer>;

  observe(attempt: Attempt<Plan>): Promise<Observed>;

  close(): Promise<void>;
}

export interface AdapterRequest {
  readonly target: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export interface Prepared<Plan> {
  readonly plan: Plan;
  /**
   * What the effect is exclusive on, within the tenant and the kind: a ref, a row, a file; up to 1,024 characters. `null` =
   * on nothing but itself, as with something that is only ever added.
   */
  readonly resource: string | null;
}

export interface AdapterProblem {
  /** What was found and what to change. Holds no secret. */
  readonly detail: string;
  /** The member of the request that is meant, as a JSON pointer: `/inputs/url`, `/target`. */
  readonly pointer: string;
}

export interface Attempt<Plan> {
  /** 64 hex digits. In class K it is the key, or what the key is made of. */
  readonly operation: string;
  readonly tenant: string;
  readonly plan: Plan;
  readonly epoch: number;
  /** From 1. */
  readonly attempt: number;
  /** Aborts when the time is over: everything of the attempt ends then. */
  readonly signal: AbortSignal;
}

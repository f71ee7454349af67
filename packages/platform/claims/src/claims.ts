/**
 * Exclusive rights on resources, in time and in order.
 *
 * What it promises
 * - At most one holder has a live claim on a resource. Two acquisitions at once: one wins.
 * - Each acquisition of a resource gets a higher epoch than every one before, also by the same holder, also after a
 *   release. An epoch is durable before it is granted and never used again. Whoever finds that the store was restored from
 *   an older copy calls {@link Claims.raiseFloor} before anything is acquired: what was granted since then is not known to it.
 * - Leases are judged by the clock of the store alone, never by a caller's.
 *
 * What it does not promise
 * - A holder that pauses may find out late that its lease has ended. Whatever it then writes must be refused by what it
 *   writes to: by the epoch, or by an expected sequence.
 */
export interface Claims {
  /** Acquires whichever of the resources are free or expired; answers with those. Others are left as they are. */
  acquire(resources: readonly string[], holder: string, leaseSeconds: number): Promise<readonly Claim[]>;

  /** Prolongs the claims that are still held with the same epoch; answers with those. The others are lost. */
  renew(claims: readonly Claim[], leaseSeconds: number): Promise<readonly Claim[]>;

  /** Gives back the claims that are still held with the same epoch; answers with those. */
  release(claims: readonly Claim[]): Promise<readonly Claim[]>;

  /**
   * Gives back the slot of the claims that are still held with the same epoch, and fences that epoch; answers with the
   * claims as they wait now. Until the time is over only the same holder may acquire them, with a higher epoch.
   */
  wait(claims: readonly Claim[], reservedSeconds: number): Promise<readonly Claim[]>;

  /**
   * The claims on resources whose name begins with the prefix, live or waiting, in the order of their names: at most
   * {@link LISTED_CLAIMS}, after the name `after` where one is given.
   */
  list(prefix: string, after?: string): Promise<readonly ListedClaim[]>;

  /** From now on every epoch granted is above `epoch`, and above every one known here. Never lowers anything. */
  raiseFloor(epoch: number): Promise<void>;

  close(): Promise<void>;
}

export const LISTED_CLAIMS = 1_000;

export interface Claim {
  readonly resource: string;
  readonly epoch: number;
  readonly holder: string;
}

export interface ListedClaim extends Claim {
  /** The slot was given back: the holder does nothing under it. */
  readonly waiting: boolean;
}

import type { AdapterClass, EffectRecord, EffectState, EffectView, Verdict } from '@headway/contracts';
import type { Observed, OperationIdentity, SendAnswer } from '@headway/effects';

/** One request as the journal keeps it: its identity, what the adapter declared, and what has to authorise it. */
export interface Intent extends OperationIdentity {
  readonly operation: string;
  readonly digest: string;
  /** Canonical JSON. */
  readonly inputs: string;
  readonly resource: string;
  readonly class: AdapterClass;
  readonly timeoutMs: number;
  readonly processingMs: number;
  readonly retentionMs: number | null;
  readonly authority: string | null;
  readonly planRevision: string | null;
  readonly assumptions: Readonly<Record<string, string>>;
  readonly by: string | null;
}

/** What the worker needs to know of an operation to send it, or to look for it. */
export interface Work {
  readonly operation: string;
  readonly tenant: string;
  readonly kind: string;
  readonly target: string;
  readonly inputs: string;
}

export interface Taken {
  readonly operation: string;
  readonly outcome: 'started' | 'busy' | 'blocked' | 'withdrawn' | 'uncertain' | 'gone' | 'fenced';
  readonly epoch: number;
  /** With this start counted. */
  readonly attempt: number;
}

export interface Settlement {
  readonly operation: string;
  readonly epoch: number;
  readonly answer: SendAnswer;
}

export interface ToReconcile extends Work {
  readonly epoch: number;
  readonly attempt: number;
}

export interface AuthorityView {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly observedAt: string;
  readonly planRevision: string | null;
  readonly approval: string | null;
  readonly maximum: number;
  readonly used: number;
  readonly fingerprints: Readonly<Record<string, string>>;
  readonly revokedAt: string | null;
  readonly by: string;
}

export interface PolicyView {
  readonly policy: number;
  readonly kind: string;
  readonly target: string;
  readonly maximumPerHour: number;
  readonly by: string;
  readonly reason: string;
  readonly writtenAt: string;
  readonly revokedAt: string | null;
}

/**
 * The executor's record: authority, operations and their histories in one store, beside the claims.
 *
 * What it promises
 * - Each call is one transaction: what it answered stands, durably; what failed left nothing.
 * - A start locks the claim, the authority and the operation, in this order, and judges them by the store's clock.
 *   Once `revokeAuthority` or `revokePolicy` has answered, nothing starts under it any more.
 * - Histories only grow. Each version is in the outbox until it was marked as published.
 *
 * A call throws where the store cannot be reached; the caller then knows nothing.
 */
export interface Journal {
  /** `fresh` = this call made it. An operation that stands already is answered as it is, whatever its digest. */
  request(intent: Intent): Promise<{ readonly fresh: boolean; readonly view: EffectView }>;
  /** Operations that wait for a start and whose resource is free, oldest first. */
  due(limit: number): Promise<readonly Work[]>;
  /** Acquires and starts in one transaction. The lease is each attempt's time and the margin. */
  take(operations: readonly string[], holder: string, marginMs: number): Promise<readonly Taken[]>;
  /** The two steps apart; `null` = not now. */
  claim(operation: string, holder: string, marginMs: number): Promise<number | null>;
  startClaimed(operation: string, epoch: number, holder: string): Promise<Taken>;
  /** Keeps answers and gives the claims back; tells the states after it. */
  settle(settlements: readonly Settlement[]): Promise<readonly EffectState[]>;
  /** Marks what is STARTED and so long past its deadline; tells how many. */
  sweep(graceMs: number, limit: number): Promise<number>;
  /** Judges again what waits for any policy; tells how many were admitted. */
  judgeWaiting(limit: number): Promise<number>;

  /** UNCERTAIN operations whose next look is due, without those that cannot be looked at. */
  dueLooks(limit: number): Promise<readonly string[]>;
  /** A new epoch to look under; `null` = another one holds the claim, or it is not uncertain. */
  claimToReconcile(operation: string, holder: string, leaseMs: number): Promise<ToReconcile | null>;
  reconcile(
    looked: Pick<ToReconcile, 'operation' | 'epoch'>,
    holder: string,
    observed: Observed,
  ): Promise<'succeeded' | 'retry' | 'uncertain' | 'fenced'>;
  resolve(
    tenant: string,
    operation: string,
    how: Resolution,
  ): Promise<{ readonly outcome: 'resolved' | 'not-known' | 'not-in-this-state'; readonly view: EffectView | null }>;

  setAuthority(tenant: string, authority: Omit<AuthorityView, 'used' | 'revokedAt'>): Promise<AuthorityView>;
  revokeAuthority(tenant: string, subject: string, by: string): Promise<AuthorityView | null>;
  authority(tenant: string, subject: string): Promise<AuthorityView | null>;
  writePolicy(
    tenant: string,
    policy: Pick<PolicyView, 'kind' | 'target' | 'maximumPerHour' | 'by' | 'reason'>,
  ): Promise<PolicyView>;
  revokePolicy(tenant: string, policy: number, by: string): Promise<PolicyView | null>;
  policies(tenant: string): Promise<readonly PolicyView[]>;

  get(tenant: string, operation: string): Promise<EffectView | null>;
  list(tenant: string, query: EffectQuery): Promise<readonly EffectView[]>;
  history(tenant: string, operation: string): Promise<readonly EffectRecord[]>;
  /** Operations by state, and the age of the oldest uncertain one in seconds. */
  counts(): Promise<{
    readonly states: Readonly<Record<string, number>>;
    readonly oldestUncertainSeconds: number | null;
  }>;

  readonly outbox: Outbox;
  readonly restore: Restore;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Resolution {
  readonly to: 'SUCCEEDED' | 'RETRY_AUTHORISED' | 'ABANDONED';
  /** The named operator. */
  readonly by: string;
  readonly reason: string;
  /** Only with SUCCEEDED; JSON. */
  readonly result: unknown;
}

export interface EffectQuery {
  readonly state?: EffectState | undefined;
  readonly kind?: string | undefined;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: { readonly createdAt: string; readonly operation: string } | undefined;
}

export interface Unpublished {
  readonly tenant: string;
  readonly record: EffectRecord;
  /** Sequence on the bus of the version before; 0 = none. */
  readonly follows: number;
}

export interface Outbox {
  /** In the order of versions within each operation. */
  unpublished(limit: number): Promise<readonly Unpublished[]>;
  published(marks: readonly { operation: string; version: number; sequence: number }[]): Promise<void>;
  /** The bus holds an operation's history only up to `version`: what follows is unpublished again. */
  publishAgain(operation: string, version: number, sequence: number): Promise<void>;
}

/** For a database that may be an older copy of itself. */
export interface Restore {
  /** The versions that stand here, of those operations. */
  versions(operations: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Takes over what the bus knows and this store does not; false = it does not follow what stands here. */
  takeOver(operation: string, records: readonly EffectRecord[], sequence: number): Promise<boolean>;
  /** Raises all epochs above `highestSeen` by `room`, and marks everything STARTED; tells how many. */
  afterRestore(highestSeen: number, room: number): Promise<number>;
}

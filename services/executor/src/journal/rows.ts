import type { AdapterClass, EffectState, EffectView, Verdict } from '@headway/contracts';
import type { AuthorityView, PolicyView } from '../ports.ts';

/** `effects.operation` as the driver gives it: `bigint` arrives as text. */
export interface OperationRow {
  readonly operation: string;
  readonly tenant: string;
  readonly kind: string;
  readonly target: string;
  readonly key: string;
  readonly generation: number;
  readonly digest: string;
  readonly inputs: string;
  readonly resource: string;
  readonly class: AdapterClass;
  readonly subject: string | null;
  readonly policy: string | null;
  readonly requested_by: string | null;
  readonly state: EffectState;
  readonly epoch: string;
  readonly attempt: number;
  readonly deadline_at: Date | null;
  readonly repeat_until: Date | null;
  readonly next_look_at: Date | null;
  readonly reason: string | null;
  readonly result: string | null;
  readonly version: number;
  readonly created_at: Date;
  readonly changed_at: Date;
  /** Computed by the query, by the store's clock. */
  readonly uncertain_seconds: number | null;
}

/** The columns of a view: everything, and the age that only the store's clock can tell. */
export const VIEW_COLUMNS = `o.*, case when o.state = 'UNCERTAIN'
  then extract(epoch from clock_timestamp() - o.uncertain_since)::float8 end as uncertain_seconds`;

export const viewOf = (row: OperationRow): EffectView => ({
  operation: row.operation,
  tenant: row.tenant,
  kind: row.kind,
  target: row.target,
  key: row.key,
  generation: row.generation,
  digest: row.digest,
  resource: row.resource,
  class: row.class,
  state: row.state,
  epoch: Number(row.epoch),
  attempt: row.attempt,
  version: row.version,
  authority: row.subject ?? (row.policy === null ? null : `policy ${row.policy}`),
  reason: row.reason,
  result: row.result === null ? null : JSON.parse(row.result),
  requestedBy: row.requested_by,
  createdAt: row.created_at.toISOString(),
  changedAt: row.changed_at.toISOString(),
  deadline: row.deadline_at === null ? null : row.deadline_at.toISOString(),
  uncertainForSeconds: row.uncertain_seconds === null ? null : Math.max(0, Math.round(row.uncertain_seconds)),
  resolvedBy: resolvedBy(row),
});

/** What would move an operation on, in words for people. */
function resolvedBy(row: OperationRow): string | null {
  switch (row.state) {
    case 'PROPOSED':
      return row.subject === null
        ? 'a policy of an operator for this kind and target (`POST /v1/effects/policies`)'
        : `a verdict True over ${row.subject}, under the plan revision and assumptions it was asked for with`;
    case 'UNCERTAIN':
      if (row.class === 'N')
        return 'an operator who knows what became of it: `headway effect resolve`. This target cannot be asked';
      return row.class === 'K'
        ? 'a look at the target, or a repeat with the same key while the target remembers it; else an operator'
        : 'a look at the target, which is repeated with growing pauses; else an operator';
    default:
      return null;
  }
}

export interface AuthorityRow {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly observed_at: Date;
  readonly plan_revision: string | null;
  readonly approval: string | null;
  readonly maximum: number;
  readonly used: number;
  readonly fingerprints: Record<string, string>;
  readonly revoked_at: Date | null;
  readonly written_by: string;
}

export const authorityOf = (row: AuthorityRow): AuthorityView => ({
  subject: row.subject,
  verdict: row.verdict,
  observedAt: row.observed_at.toISOString(),
  planRevision: row.plan_revision,
  approval: row.approval,
  maximum: row.maximum,
  used: row.used,
  fingerprints: row.fingerprints,
  revokedAt: row.revoked_at === null ? null : row.revoked_at.toISOString(),
  by: row.written_by,
});

export interface PolicyRow {
  readonly policy: string;
  readonly kind: string;
  readonly target_pattern: string;
  readonly maximum_per_hour: number;
  readonly written_by: string;
  readonly reason: string;
  readonly written_at: Date;
  readonly revoked_at: Date | null;
}

export const policyOf = (row: PolicyRow): PolicyView => ({
  policy: Number(row.policy),
  kind: row.kind,
  target: row.target_pattern,
  maximumPerHour: row.maximum_per_hour,
  by: row.written_by,
  reason: row.reason,
  writtenAt: row.written_at.toISOString(),
  revokedAt: row.revoked_at === null ? null : row.revoked_at.toISOString(),
});

/** A pattern in which `*` stands for any text, as one of LIKE. */
export const likeOf = (pattern: string): string => pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');

import { type EffectRecord, type EffectState, type EffectView, effectLimits } from '@headway/contracts';
import { digest } from '@headway/kernel';
import pg from 'pg';
import type { Intent, Journal, Taken, Unpublished, Work } from '../ports.ts';
import {
  type AuthorityRow,
  authorityOf,
  likeOf,
  type OperationRow,
  type PolicyRow,
  policyOf,
  VIEW_COLUMNS,
  viewOf,
} from './rows.ts';

const CONNECTIONS = 8;
const STATEMENT_MILLISECONDS = 15_000;
/** Longest pause between two looks at a target. */
const LONGEST_PAUSE_SECONDS = 300;

/** The name of the claim on an operation's resource. Kinds and tenants never share one. */
export const claimOf = ({ tenant, kind, resource }: Pick<Intent, 'tenant' | 'kind' | 'resource'>): string =>
  `effect/${tenant}/${digest(kind, resource)}`;

export interface JournalOptions {
  readonly url: string;
  readonly connections?: number;
}

/** The journal on Postgres. Every rule stands in the SQL functions of `schema/`; this file only calls them. */
export function connectPostgresJournal({ url, connections = CONNECTIONS }: JournalOptions): Journal {
  const pool = new pg.Pool({ connectionString: url, max: connections, statement_timeout: STATEMENT_MILLISECONDS });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {});
  // What was published is found out again where it is forgotten: nobody waits for the disk to remember it.
  const marks = new pg.Pool({
    connectionString: url,
    max: 1,
    statement_timeout: STATEMENT_MILLISECONDS,
    options: '-c synchronous_commit=off',
  });
  marks.on('error', () => {});
  /** Named, so that the server plans it once a connection. */
  const ask = async <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[] = []) =>
    (await pool.query<Row>({ name, text, values })).rows;
  const one = async <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[] = []) =>
    (await ask<Row>(name, text, values))[0] ?? null;
  const view = async (name: string, text: string, values: unknown[]): Promise<EffectView | null> => {
    const row = await one<OperationRow>(name, text, values);
    return row === null ? null : viewOf(row);
  };
  const get = (tenant: string, operation: string) =>
    view('get', `select ${VIEW_COLUMNS} from effects.operation o where o.tenant = $1 and o.operation = $2`, [
      tenant,
      operation,
    ]);

  return {
    request: async (intent) => {
      const row = await one<OperationRow & { fresh: boolean }>('request', REQUEST, requestValues(intent));
      if (row === null) throw new Error('a request was answered with no operation');
      return { fresh: row.fresh, view: viewOf(row) };
    },
    due: (limit) => ask<WorkRow>('due', DUE, [limit]),
    take: async (operations, holder, marginMs) =>
      (
        await ask<TakenRow>('take', `select * from effects.take($1, $2, ${MS('$3')})`, [operations, holder, marginMs])
      ).map(takenOf),
    claim: async (operation, holder, marginMs) => {
      const text = `select effects.claim_one($1, $2, ${MS('$3')}) as epoch`;
      const row = await one<{ epoch: string | null }>('claim', text, [operation, holder, marginMs]);
      return row?.epoch == null ? null : Number(row.epoch);
    },
    startClaimed: async (operation, epoch, holder) => {
      const row = await one<TakenRow>('start', 'select * from effects.start_claimed($1, $2, $3)', [
        operation,
        epoch,
        holder,
      ]);
      return row === null ? { operation, epoch, outcome: 'gone', attempt: 0 } : takenOf(row);
    },
    settle: async (settlements) => {
      const rows = await ask<{ operation: string; state: EffectState }>('settle', SETTLE, [
        settlements.map(({ operation }) => operation),
        settlements.map(({ epoch }) => epoch),
        settlements.map(({ answer }) => answer.answer),
        settlements.map(({ answer }) => (answer.answer === 'succeeded' ? JSON.stringify(answer.result) : null)),
        settlements.map(({ answer }) => ('reason' in answer ? answer.reason.slice(0, effectLimits.reason) : null)),
        effectLimits.evidence,
      ]);
      const states = new Map(rows.map(({ operation, state }) => [operation, state]));
      return settlements.map(({ operation }) => states.get(operation) as EffectState);
    },
    sweep: async (graceMs, limit) =>
      (await one<{ n: number }>('sweep', `select effects.sweep(${MS('$1')}, $2) as n`, [graceMs, limit]))?.n ?? 0,
    judgeWaiting: async (limit) =>
      (await one<{ n: number }>('judge', 'select effects.judge_waiting(null, null, $1) as n', [limit]))?.n ?? 0,

    dueLooks: async (limit) => (await ask<{ operation: string }>('looks', LOOKS, [limit])).map((row) => row.operation),
    claimToReconcile: async (operation, holder, leaseMs) => {
      const text = `select * from effects.claim_to_reconcile($1, $2, ${MS('$3')}, ${LONGEST_PAUSE_SECONDS})`;
      const row = await one<OperationRow>('reconcile-claim', text, [operation, holder, leaseMs]);
      return row === null || row.operation === null
        ? null
        : { ...workOf(row), epoch: Number(row.epoch), attempt: row.attempt };
    },
    reconcile: async ({ operation, epoch }, holder, observed) => {
      const result = observed.observed === 'present' ? JSON.stringify(observed.result) : null;
      const detail = 'reason' in observed ? observed.reason : 'detail' in observed ? observed.detail : '';
      const text = 'select outcome from effects.reconcile($1, $2, $3, $4, $5, $6, false)';
      const values = [operation, epoch, holder, observed.observed, result, detail.slice(0, effectLimits.reason)];
      const row = await one<{ outcome: 'succeeded' | 'retry' | 'uncertain' | 'fenced' }>('reconcile', text, values);
      return row?.outcome ?? 'fenced';
    },
    resolve: async (tenant, operation, { to, by, reason, result }) => {
      const text = 'select outcome from effects.resolve($1, $2, $3, $4, $5, $6)';
      const values = [tenant, operation, to, by, reason, to === 'SUCCEEDED' ? JSON.stringify(result ?? null) : null];
      const row = await one<{ outcome: 'resolved' | 'not-known' | 'not-in-this-state' }>('resolve', text, values);
      return { outcome: row?.outcome ?? 'not-known', view: await get(tenant, operation) };
    },

    setAuthority: async (tenant, authority) => {
      const { subject, verdict, observedAt, planRevision, approval, maximum, fingerprints, by } = authority;
      const text = 'select * from effects.set_authority($1, $2, $3, $4, $5, $6, $7, $8, $9)';
      const values = [
        tenant,
        subject,
        verdict,
        observedAt,
        planRevision,
        approval,
        maximum,
        JSON.stringify(fingerprints),
        by,
      ];
      return authorityOf((await one<AuthorityRow>('authorise', text, values)) as AuthorityRow);
    },
    revokeAuthority: async (tenant, subject, by) => {
      const row = await one<AuthorityRow>('revoke', 'select * from effects.revoke_authority($1, $2, $3)', [
        tenant,
        subject,
        by,
      ]);
      return row?.subject == null ? null : authorityOf(row);
    },
    authority: async (tenant, subject) => {
      const text = 'select * from effects.authority where tenant = $1 and subject = $2';
      const row = await one<AuthorityRow>('authority', text, [tenant, subject]);
      return row === null ? null : authorityOf(row);
    },
    writePolicy: async (tenant, { kind, target, maximumPerHour, by, reason }) => {
      const values = [tenant, kind, target, likeOf(target), maximumPerHour, by, reason];
      const row = (await one<PolicyRow>('policy', WRITE_POLICY, values)) as PolicyRow;
      await ask('judge', 'select effects.judge_waiting(null, null, $1) as n', [JUDGED_AT_ONCE]);
      return policyOf(row);
    },
    revokePolicy: async (tenant, policy, by) => {
      const row = await one<PolicyRow>('revoke-policy', 'select * from effects.revoke_policy($1, $2, $3)', [
        tenant,
        policy,
        by,
      ]);
      return row?.policy == null ? null : policyOf(row);
    },
    policies: async (tenant) => (await ask<PolicyRow>('policies', POLICIES, [tenant])).map(policyOf),

    get,
    list: async (tenant, { state, kind, limit, after }) =>
      (
        await ask<OperationRow>('list', LIST, [
          tenant,
          state ?? null,
          kind ?? null,
          after?.createdAt ?? null,
          after?.operation ?? null,
          limit,
        ])
      ).map(viewOf),
    history: (tenant, operation) => ask<RecordRow>('history', HISTORY, [tenant, operation]),
    counts: async () => {
      const rows = await ask<{ state: string; n: string; oldest: number | null }>('counts', COUNTS);
      return {
        states: Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)])),
        oldestUncertainSeconds: rows.find(({ state }) => state === 'UNCERTAIN')?.oldest ?? null,
      };
    },

    outbox: {
      unpublished: async (limit) =>
        (await ask<UnpublishedRow>('unpublished', 'select * from effects.unpublished($1)', [limit])).map(unpublishedOf),
      published: async (done) => {
        await marks.query('select effects.mark_published($1, $2, $3)', [
          done.map(({ operation }) => operation),
          done.map(({ version }) => version),
          done.map(({ sequence }) => sequence),
        ]);
      },
      publishAgain: async (operation, version, sequence) => {
        await ask('publish-again', 'select effects.publish_again($1, $2, $3)', [operation, version, sequence]);
      },
    },
    restore: {
      versions: async (operations) => {
        const text = 'select operation, version from effects.operation where operation = any($1)';
        const rows = await ask<{ operation: string; version: number }>('versions', text, [operations]);
        return new Map(rows.map(({ operation, version }) => [operation, version]));
      },
      takeOver: async (operation, records, sequence) => {
        const text = 'select effects.take_over($1, $2, $3) as taken';
        return (
          (await one<{ taken: boolean }>('take-over', text, [operation, JSON.stringify(records), sequence]))?.taken ===
          true
        );
      },
      afterRestore: async (highestSeen, room) =>
        (await one<{ n: number }>('restored', 'select effects.after_restore($1, $2) as n', [highestSeen, room]))?.n ??
        0,
    },
    ping: async () => {
      await pool.query('select 1 from effects.operation limit 1');
    },
    close: async () => {
      await Promise.all([pool.end(), marks.end()]);
    },
  };
}

const MS = (parameter: string) => `${parameter}::float8 * interval '1 millisecond'`;
const JUDGED_AT_ONCE = 1_000;

const REQUEST = `select r.fresh, (r.op).*, case when (r.op).state = 'UNCERTAIN'
    then extract(epoch from clock_timestamp() - (r.op).uncertain_since)::float8 end as uncertain_seconds
  from effects.request($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) r`;

const requestValues = (intent: Intent): unknown[] => [
  intent.operation,
  intent.tenant,
  intent.kind,
  intent.target,
  intent.key,
  intent.generation,
  intent.digest,
  intent.inputs,
  intent.resource,
  claimOf(intent),
  intent.class,
  intent.timeoutMs,
  intent.processingMs,
  intent.retentionMs,
  intent.authority,
  intent.planRevision,
  JSON.stringify(intent.assumptions),
  intent.by,
];

const SETTLE = 'select * from effects.settle($1, $2, $3, $4, $5, $6)';

const DUE = `select o.operation, o.tenant, o.kind, o.target, o.inputs
  from effects.operation o
  where o.state in ('ADMITTED', 'CLAIMED', 'RETRY_AUTHORISED')
    and not exists (select 1 from claims.claim c where c.resource = o.claim and c.lease_until > clock_timestamp())
    and not exists (
      select 1 from effects.operation x
      where x.claim = o.claim and x.operation <> o.operation
        and (x.state in ('CLAIMED', 'STARTED', 'UNCERTAIN', 'RETRY_AUTHORISED')
          or (x.attempt > 0 and x.state in ('PROPOSED', 'ADMITTED'))))
  order by o.created_at limit $1`;

const LOOKS = `select o.operation from effects.operation o
  where o.state = 'UNCERTAIN' and o.next_look_at <= clock_timestamp() and o.class <> 'N'
  order by o.next_look_at limit $1`;

const WRITE_POLICY = `insert into effects.policy (tenant, kind, target_pattern, target_like, maximum_per_hour, written_by, reason)
  values ($1, $2, $3, $4, $5, $6, $7) returning *`;

const POLICIES = 'select * from effects.policy where tenant = $1 order by policy limit 1000';

const LIST = `select ${VIEW_COLUMNS} from effects.operation o
  where o.tenant = $1 and ($2::text is null or o.state = $2) and ($3::text is null or o.kind = $3)
    and ($4::timestamptz is null or (date_trunc('milliseconds', o.created_at), o.operation) < ($4::timestamptz, $5::text))
  order by date_trunc('milliseconds', o.created_at) desc, o.operation desc limit $6`;

const HISTORY = `select h.operation, h.version, h.entry, h.previous, h.hash, 1 as v
  from effects.history h join effects.operation o using (operation)
  where o.tenant = $1 and h.operation = $2 order by h.version`;

const COUNTS = `select state, count(*) as n,
    extract(epoch from clock_timestamp() - min(uncertain_since))::float8 as oldest
  from effects.operation group by state`;

type WorkRow = Work;
type RecordRow = EffectRecord;

interface TakenRow {
  readonly operation: string;
  readonly outcome: Taken['outcome'];
  readonly epoch: string;
  readonly attempt: number;
}

const takenOf = ({ operation, outcome, epoch, attempt }: TakenRow): Taken => ({
  operation,
  outcome,
  attempt,
  epoch: Number(epoch),
});

const workOf = ({ operation, tenant, kind, target, inputs }: OperationRow): Work => ({
  operation,
  tenant,
  kind,
  target,
  inputs,
});

interface UnpublishedRow {
  readonly operation: string;
  readonly tenant: string;
  readonly version: number;
  readonly entry: string;
  readonly previous: string | null;
  readonly hash: string;
  readonly follows: string;
}

const unpublishedOf = ({
  tenant,
  follows,
  operation,
  version,
  entry,
  previous,
  hash,
}: UnpublishedRow): Unpublished => ({
  tenant,
  follows: Number(follows),
  record: { v: 1, operation, version, entry, previous, hash },
});

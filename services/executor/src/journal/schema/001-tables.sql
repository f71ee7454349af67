create schema if not exists effects;

-- The verdict over a subject: a start locks it, and so does its revocation.
create table if not exists effects.authority (
  tenant text not null,
  subject text not null,
  verdict text not null check (verdict in ('True', 'False', 'Unknown')),
  observed_at timestamptz not null,
  plan_revision text,
  approval text,
  maximum integer not null,
  used integer not null default 0,
  fingerprints jsonb not null default '{}',
  revoked_at timestamptz,
  written_by text not null,
  primary key (tenant, subject)
);

-- What an operator allows to be asked for outside any campaign.
create table if not exists effects.policy (
  policy bigint generated always as identity primary key,
  tenant text not null,
  kind text not null,
  target_pattern text not null,
  target_like text not null,
  maximum_per_hour integer not null,
  written_by text not null,
  reason text not null,
  written_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz,
  revoked_by text
);
create index if not exists policy_lookup on effects.policy (tenant, kind) where revoked_at is null;

-- Starts under a policy, by minute: the last hour is the sum of at most 61 rows.
create table if not exists effects.policy_use (
  policy bigint not null references effects.policy,
  minute timestamptz not null,
  used integer not null,
  primary key (policy, minute)
);

create table if not exists effects.operation (
  operation text primary key,
  tenant text not null,
  kind text not null,
  target text not null,
  key text not null,
  generation integer not null,
  digest text not null,
  inputs text not null,
  resource text not null,
  -- The name of the claim on the resource.
  claim text not null,
  class text not null check (class in ('K', 'C', 'P', 'N')),
  timeout_ms integer not null,
  processing_ms bigint not null,
  retention_ms bigint,
  subject text,
  plan_revision text,
  assumptions jsonb not null default '{}',
  requested_by text,
  policy bigint references effects.policy,
  state text not null,
  epoch bigint not null default 0,
  attempt integer not null default 0,
  evidence integer not null default 0,
  first_started_at timestamptz,
  deadline_at timestamptz,
  -- A repeat that a machine authorised is safe up to then; null = without end.
  repeat_until timestamptz,
  uncertain_since timestamptz,
  -- How often the target was looked at since it became UNCERTAIN, and when it is next.
  looks integer not null default 0,
  next_look_at timestamptz,
  reason text,
  result text,
  version integer not null default 0,
  head text,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp()
) with (fillfactor = 70);

-- One open operation per resource: it holds the claim, or something of it may still take effect.
create unique index if not exists operation_open on effects.operation (claim)
  where state in ('CLAIMED', 'STARTED', 'UNCERTAIN', 'RETRY_AUTHORISED')
     or (attempt > 0 and state in ('PROPOSED', 'ADMITTED'));
create index if not exists operation_due on effects.operation (created_at)
  where state in ('ADMITTED', 'CLAIMED', 'RETRY_AUTHORISED');
create index if not exists operation_started on effects.operation (deadline_at) where state = 'STARTED';
create index if not exists operation_uncertain on effects.operation (next_look_at) where state = 'UNCERTAIN';
create index if not exists operation_waiting on effects.operation (tenant, subject, created_at) where state = 'PROPOSED';
create index if not exists operation_listed on effects.operation (tenant, created_at desc, operation);

-- Append-only, hash-chained, and the outbox: a record without a sequence has not been published yet.
create table if not exists effects.history (
  operation text not null,
  version integer not null,
  entry text not null,
  previous text,
  hash text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (operation, version)
);

create table if not exists effects.outbox (
  operation text not null,
  version integer not null,
  primary key (operation, version)
);

-- Sequence on the bus of the newest published version.
create table if not exists effects.published (
  operation text primary key,
  version integer not null,
  sequence bigint not null
) with (fillfactor = 70);

create schema if not exists claims;

create table if not exists claims.claim (
  resource text primary key,
  epoch bigint not null,
  holder text not null,
  lease_until timestamptz not null
);

create index if not exists claim_resource_prefix on claims.claim (resource text_pattern_ops);

-- The row is locked by the conflicting update, so of two acquisitions at once the second sees the first one's lease.
-- Resources are taken in one order, so that two callers that want the same ones cannot wait for each other.
create or replace function claims.acquire(resources text[], by_holder text, lease interval)
returns setof claims.claim language sql as $$
  insert into claims.claim as held (resource, epoch, holder, lease_until)
  select wanted, 1, by_holder, clock_timestamp() + lease
  from unnest(resources) as wanted
  order by wanted
  on conflict (resource) do update
    set epoch = held.epoch + 1, holder = excluded.holder, lease_until = clock_timestamp() + lease
    where held.lease_until <= clock_timestamp()
  returning *
$$;

create or replace function claims.renew(resources text[], epochs bigint[], by_holder text, lease interval)
returns setof claims.claim language sql as $$
  with mine as (
    select held.resource
    from claims.claim held
    join unnest(resources, epochs) as wanted (resource, epoch) using (resource, epoch)
    where held.holder = by_holder and held.lease_until > clock_timestamp()
    order by held.resource
    for update of held
  )
  update claims.claim held
  set lease_until = clock_timestamp() + lease
  from mine
  where held.resource = mine.resource
  returning held.*
$$;

create or replace function claims.release(resources text[], epochs bigint[], by_holder text)
returns setof claims.claim language sql as $$
  with mine as (
    select held.resource
    from claims.claim held
    join unnest(resources, epochs) as wanted (resource, epoch) using (resource, epoch)
    where held.holder = by_holder and held.lease_until > '-infinity'
    order by held.resource
    for update of held
  )
  update claims.claim held
  set lease_until = '-infinity'
  from mine
  where held.resource = mine.resource
  returning held.*
$$;

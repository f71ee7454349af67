-- No epoch at or below the floor is ever granted again: it is raised where the database may be an older copy of itself.
create table if not exists claims.floor (
  single boolean primary key default true check (single),
  epoch bigint not null
);
insert into claims.floor (epoch) values (0) on conflict do nothing;

-- The slot was given back and the epoch is fenced; until its lease ends only the same holder may acquire it again.
alter table claims.claim add column if not exists waiting boolean not null default false;

create or replace function claims.raise_floor(at_least bigint)
returns bigint language sql as $$
  update claims.floor
  set epoch = greatest(epoch, at_least, (select coalesce(max(c.epoch), 0) from claims.claim c))
  returning epoch
$$;

create or replace function claims.acquire(resources text[], by_holder text, lease interval)
returns setof claims.claim language sql as $$
  insert into claims.claim as held (resource, epoch, holder, lease_until)
  select wanted, (select f.epoch from claims.floor f) + 1, by_holder, clock_timestamp() + lease
  from unnest(resources) as wanted
  order by wanted
  on conflict (resource) do update
    set epoch = greatest(held.epoch + 1, excluded.epoch), holder = excluded.holder, waiting = false,
        lease_until = clock_timestamp() + lease
    where held.lease_until <= clock_timestamp() or (held.waiting and held.holder = excluded.holder)
  returning *
$$;

create or replace function claims.renew(resources text[], epochs bigint[], by_holder text, lease interval)
returns setof claims.claim language sql as $$
  with mine as (
    select held.resource
    from claims.claim held
    join unnest(resources, epochs) as wanted (resource, epoch) using (resource, epoch)
    where held.holder = by_holder and held.lease_until > clock_timestamp() and not held.waiting
    order by held.resource
    for update of held
  )
  update claims.claim held
  set lease_until = clock_timestamp() + lease
  from mine
  where held.resource = mine.resource
  returning held.*
$$;

-- The epoch rises with the slot's return, so that nothing done under the old one counts any more.
create or replace function claims.wait(resources text[], epochs bigint[], by_holder text, reserved interval)
returns setof claims.claim language sql as $$
  with mine as (
    select held.resource
    from claims.claim held
    join unnest(resources, epochs) as wanted (resource, epoch) using (resource, epoch)
    where held.holder = by_holder and held.lease_until > clock_timestamp() and not held.waiting
    order by held.resource
    for update of held
  )
  update claims.claim held
  set epoch = held.epoch + 1, waiting = true, lease_until = clock_timestamp() + reserved
  from mine
  where held.resource = mine.resource
  returning held.*
$$;

-- What is not on the bus yet, oldest versions of an operation first, with the sequence that the next version has to follow.
create or replace function effects.unpublished(most integer)
returns table (operation text, tenant text, version integer, entry text, previous text, hash text, follows bigint)
language sql stable as $$
  select x.operation, o.tenant, x.version, h.entry, h.previous, h.hash, coalesce(p.sequence, 0)
  from (select * from effects.outbox order by operation, version limit most) x
  join effects.operation o on o.operation = x.operation
  join effects.history h on h.operation = x.operation and h.version = x.version
  left join effects.published p on p.operation = x.operation
  order by x.operation, x.version
$$;

create or replace function effects.mark_published(operations text[], versions integer[], sequences bigint[])
returns void language sql as $$
  delete from effects.outbox x using unnest(operations, versions) as m (operation, version)
  where x.operation = m.operation and x.version <= m.version;
  insert into effects.published as p (operation, version, sequence)
  select distinct on (operation) * from unnest(operations, versions, sequences) as m (operation, version, sequence)
  order by operation, version desc
  on conflict (operation) do update set version = excluded.version, sequence = excluded.sequence
    where p.version < excluded.version
$$;

-- The bus lost the end of an operation's history: what comes after `kept` is published again.
create or replace function effects.publish_again(id text, kept integer, kept_sequence bigint)
returns void language sql as $$
  insert into effects.outbox (operation, version)
  select h.operation, h.version from effects.history h where h.operation = id and h.version > kept
  on conflict do nothing;
  insert into effects.published (operation, version, sequence) values (id, kept, kept_sequence)
  on conflict (operation) do update set version = excluded.version, sequence = excluded.sequence
$$;

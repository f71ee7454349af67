-- The bus knows more of an operation than this journal: the database is an older copy. Takes over what is missing, byte for
-- byte, and the state that the newest record tells. `records` are [{version, entry, previous, hash}], without gaps after the
-- version that stands here. False = they do not follow what stands here.
create or replace function effects.take_over(id text, records jsonb, at_sequence bigint)
returns boolean language plpgsql as $$
declare
  r record;
  op effects.operation;
  e jsonb;
begin
  select * into op from effects.operation o where o.operation = id for update;
  for r in select * from jsonb_to_recordset(records) as x (version integer, entry text, previous text, hash text) order by version loop
    e := r.entry::jsonb;
    if op.operation is null then
      if r.version <> 1 then return false; end if;
      insert into effects.operation
        (operation, tenant, kind, target, key, generation, digest, inputs, resource, claim, class, timeout_ms, processing_ms,
         retention_ms, subject, plan_revision, assumptions, requested_by, state)
      values
        (id, e->>'tenant', e->>'kind', e->>'target', e->>'key', (e->>'generation')::integer, e->>'digest', e->>'inputs',
         e->>'resource', e->>'claim', e->>'class', (e->>'timeoutMs')::integer, (e->>'processingMs')::bigint,
         (e->>'retentionMs')::bigint, e->>'authority', e->>'planRevision', e->'assumptions', e->>'by', 'PROPOSED')
      returning * into op;
    end if;
    if r.version <> op.version + 1 or r.previous is distinct from op.head then return false; end if;
    insert into effects.history (operation, version, entry, previous, hash) values (id, r.version, r.entry, r.previous, r.hash);
    op.version := r.version;
    op.head := r.hash;
    op.state := e->>'state';
    op.epoch := greatest(op.epoch, (e->>'epoch')::bigint);
    op.reason := e->>'reason';
    if e->>'type' = 'headway.effect.started' then
      op.attempt := (e->>'attempt')::integer;
      op.first_started_at := coalesce(op.first_started_at, (e->>'at')::timestamptz);
      op.deadline_at := (e->>'deadline')::timestamptz;
    elsif e->>'type' = 'headway.effect.succeeded' then
      op.result := (e->'result')::text;
    end if;
  end loop;
  if op.operation is null then return false; end if;
  update effects.operation o
  set version = op.version, head = op.head, state = op.state, epoch = op.epoch, reason = op.reason, attempt = op.attempt,
      first_started_at = op.first_started_at, deadline_at = op.deadline_at, result = op.result,
      uncertain_since = case when op.state = 'UNCERTAIN' then clock_timestamp() end,
      next_look_at = case when op.state = 'UNCERTAIN' then clock_timestamp() end, changed_at = clock_timestamp()
  where o.operation = id;
  insert into effects.published (operation, version, sequence) values (id, op.version, at_sequence)
  on conflict (operation) do update set version = excluded.version, sequence = excluded.sequence;
  delete from effects.outbox x where x.operation = id;
  return true;
end $$;

-- After a restore: epochs rise above everything that may have been granted, and nothing STARTED is believed to be running.
create or replace function effects.after_restore(highest_seen bigint, room bigint)
returns integer language plpgsql as $$
declare
  op effects.operation;
  marked integer := 0;
begin
  perform claims.raise_floor(greatest(highest_seen, (select coalesce(max(o.epoch), 0) from effects.operation o)) + room);
  for op in select * from effects.operation o where o.state = 'STARTED' order by o.operation for update loop
    perform effects.move(op, 'UNCERTAIN', 'headway.effect.uncertain', 'the database was restored from an older copy');
    marked := marked + 1;
  end loop;
  return marked;
end $$;

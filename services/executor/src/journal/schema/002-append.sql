create or replace function effects.history_hash(previous text, version integer, entry text)
returns text language sql immutable parallel safe as $$
  select encode(sha256(convert_to(coalesce(previous, '') || E'\n' || version || E'\n' || entry, 'UTF8')), 'hex')
$$;

create or replace function effects.entry(op effects.operation, type text, more jsonb)
returns text language sql stable as $$
  select (jsonb_build_object(
    'type', type, 'operation', op.operation, 'tenant', op.tenant, 'version', op.version,
    'at', to_char(op.changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'state', op.state, 'epoch', op.epoch) || more)::text
$$;

-- Writes an operation as the caller changed it, as its next version, with the history and outbox rows that belong to it.
-- The caller holds the lock of the row.
create or replace function effects.append(op effects.operation, type text, more jsonb)
returns effects.operation language plpgsql as $$
declare
  entry text;
  previous text := op.head;
begin
  op.version := op.version + 1;
  op.changed_at := clock_timestamp();
  if op.state <> 'UNCERTAIN' then
    op.uncertain_since := null;
    op.next_look_at := null;
  elsif op.uncertain_since is null then
    op.uncertain_since := op.changed_at;
    op.looks := 0;
    -- What may still be under way is not looked for before it has ended.
    op.next_look_at := greatest(op.changed_at, op.deadline_at);
  end if;
  entry := effects.entry(op, type, more);
  op.head := effects.history_hash(previous, op.version, entry);
  update effects.operation o
  set state = op.state, epoch = op.epoch, attempt = op.attempt, evidence = op.evidence, policy = op.policy,
      first_started_at = op.first_started_at, deadline_at = op.deadline_at, repeat_until = op.repeat_until,
      uncertain_since = op.uncertain_since, looks = op.looks, next_look_at = op.next_look_at, reason = op.reason, result = op.result,
      version = op.version, head = op.head, changed_at = op.changed_at
  where o.operation = op.operation;
  insert into effects.history (operation, version, entry, previous, hash)
  values (op.operation, op.version, entry, previous, op.head);
  insert into effects.outbox (operation, version) values (op.operation, op.version);
  return op;
end $$;

-- The short forms of a transition that only needs a reason.
create or replace function effects.move(op effects.operation, to_state text, type text, why text, more jsonb default '{}')
returns effects.operation language plpgsql as $$
begin
  op.state := to_state;
  op.reason := why;
  return effects.append(op, type, jsonb_build_object('reason', why) || more);
end $$;

create or replace function effects.note(op effects.operation, evidence text, detail text, most integer)
returns effects.operation language plpgsql as $$
begin
  if op.evidence >= most then return op; end if;
  op.evidence := op.evidence + 1;
  return effects.append(op, 'headway.effect.evidence-recorded', jsonb_build_object('evidence', evidence, 'detail', detail));
end $$;

-- Acquires the claims of admitted operations and starts them, all in one transaction: claim, authority and operation rows
-- are locked in this order, each in the order of its key. Either an operation is STARTED with a new epoch, or nothing of it
-- has changed but what `outcome` says:
--   started | busy (another holds the claim) | blocked (another operation is open on the resource) |
--   withdrawn (what authorised it no longer does) | uncertain (a repeat is no longer safe) | gone (not in such a state)
create or replace function effects.take(ids text[], by_holder text, margin interval)
returns table (operation text, outcome text, epoch bigint, attempt integer, deadline timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  won text[];
  epochs bigint[];
  began timestamptz;
begin
  with candidate as (
    select distinct on (o.claim) o.operation, o.claim, o.timeout_ms
    from effects.operation o
    where o.operation = any(ids) and o.state in ('ADMITTED', 'RETRY_AUTHORISED', 'CLAIMED')
    order by o.claim, o.attempt desc, o.created_at, o.operation
  ), granted as (
    select g.resource, g.epoch
    from (select array_agg(claim) as names, max(timeout_ms) as timeout from candidate) c,
         claims.acquire(c.names, by_holder, c.timeout * interval '1 millisecond' + margin) g
  )
  select array_agg(c.operation), array_agg(g.epoch) into won, epochs
  from granted g join candidate c on c.claim = g.resource;
  perform 1 from effects.authority a
  where exists (select 1 from effects.operation o where o.operation = any(won) and o.tenant = a.tenant and o.subject = a.subject)
  order by a.tenant, a.subject for update;
  perform 1 from effects.policy p
  where p.policy in (select o.policy from effects.operation o where o.operation = any(won))
  order by p.policy for update;
  perform 1 from effects.operation o where o.operation = any(won) order by o.operation for update;
  return query
    select s.* from effects.start_locked(won, epochs, by_holder) s
    union all
    select o.operation,
      case when o.state in ('ADMITTED', 'RETRY_AUTHORISED', 'CLAIMED') then 'busy' else 'gone' end, o.epoch, o.attempt, o.deadline_at
    from effects.operation o
    where o.operation = any(ids) and (won is null or o.operation <> all(won));
end $$;

-- Starts operations whose claims, authorities and rows are locked, each under the epoch beside it.
create or replace function effects.start_locked(ids text[], epochs bigint[], by_holder text)
returns table (operation text, outcome text, epoch bigint, attempt integer, deadline timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  op effects.operation;
  pair record;
  at_epoch bigint;
  why text;
begin
  for pair in select w.operation, w.epoch from unnest(ids, epochs) as w (operation, epoch) loop
    at_epoch := pair.epoch;
    select * into op from effects.operation o where o.operation = pair.operation;
    epoch := at_epoch;
    operation := op.operation;
    attempt := op.attempt;
    deadline := null;
    if op.state not in ('ADMITTED', 'RETRY_AUTHORISED', 'CLAIMED') then
      outcome := 'gone';
    elsif exists (
      select 1 from effects.operation x
      where x.claim = op.claim and x.operation <> op.operation
        and (x.state in ('CLAIMED', 'STARTED', 'UNCERTAIN', 'RETRY_AUTHORISED') or (x.attempt > 0 and x.state in ('PROPOSED', 'ADMITTED')))
    ) then
      outcome := 'blocked';
    elsif op.attempt > 0 and op.repeat_until is not null and op.repeat_until <= clock_timestamp() then
      op.epoch := at_epoch;
      perform effects.move(op, 'UNCERTAIN', 'headway.effect.uncertain', 'the target may have forgotten the key before the repeat was started');
      outcome := 'uncertain';
    else
      why := effects.refusal_of(op);
      if why is not null then
        perform effects.move(op, 'PROPOSED', 'headway.effect.withdrawn', case why when 'False' then 'the verdict is False' else why end);
        outcome := 'withdrawn';
      else
        op := effects.start_one(op, at_epoch, by_holder);
        outcome := 'started';
        attempt := op.attempt;
        deadline := op.deadline_at;
      end if;
    end if;
    if outcome <> 'started' then
      update claims.claim c set lease_until = '-infinity' where c.resource = op.claim and c.epoch = at_epoch;
    end if;
    return next;
  end loop;
end $$;

create or replace function effects.start_one(op effects.operation, at_epoch bigint, by_holder text)
returns effects.operation language plpgsql as $$
declare
  now timestamptz := clock_timestamp();
begin
  if op.attempt = 0 then
    if op.subject is not null then
      update effects.authority set used = used + 1 where tenant = op.tenant and subject = op.subject;
    else
      insert into effects.policy_use as u (policy, minute, used) values (op.policy, date_trunc('minute', now), 1)
      on conflict (policy, minute) do update set used = u.used + 1;
    end if;
  end if;
  op.state := 'STARTED';
  op.epoch := at_epoch;
  op.attempt := op.attempt + 1;
  op.first_started_at := coalesce(op.first_started_at, now);
  op.deadline_at := now + op.timeout_ms * interval '1 millisecond';
  op.repeat_until := null;
  op.reason := null;
  return effects.append(op, 'headway.effect.started', jsonb_build_object(
    'holder', by_holder, 'attempt', op.attempt,
    'deadline', to_char(op.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
end $$;

-- The two steps of `take` apart, for a target whose own fence is raised between them.
create or replace function effects.claim_one(id text, by_holder text, margin interval)
returns bigint language plpgsql as $$
declare
  op effects.operation;
  granted bigint;
begin
  select * into op from effects.operation o where o.operation = id;
  if not found or op.state not in ('ADMITTED', 'RETRY_AUTHORISED', 'CLAIMED') then return null; end if;
  select g.epoch into granted from claims.acquire(array[op.claim], by_holder, op.timeout_ms * interval '1 millisecond' + margin) g;
  if granted is null then return null; end if;
  select * into op from effects.operation o where o.operation = id for update;
  if op.state not in ('ADMITTED', 'RETRY_AUTHORISED', 'CLAIMED') or exists (
    select 1 from effects.operation x
    where x.claim = op.claim and x.operation <> op.operation
      and (x.state in ('CLAIMED', 'STARTED', 'UNCERTAIN', 'RETRY_AUTHORISED') or (x.attempt > 0 and x.state in ('PROPOSED', 'ADMITTED')))
  ) then
    update claims.claim c set lease_until = '-infinity' where c.resource = op.claim and c.epoch = granted;
    return null;
  end if;
  op.epoch := granted;
  op.state := 'CLAIMED';
  perform effects.append(op, 'headway.effect.claimed', jsonb_build_object('holder', by_holder));
  return granted;
end $$;

-- Starts a CLAIMED operation under the epoch of its claim, which has to be live for longer than the attempt may take.
create or replace function effects.start_claimed(id text, at_epoch bigint, by_holder text)
returns table (operation text, outcome text, epoch bigint, attempt integer, deadline timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  op effects.operation;
begin
  perform 1 from claims.claim c join effects.operation o on o.claim = c.resource
  where o.operation = id and c.epoch = at_epoch and c.holder = by_holder
    and c.lease_until > clock_timestamp() + o.timeout_ms * interval '1 millisecond'
  for update of c;
  if not found then
    return query select id, 'fenced', at_epoch, 0, null::timestamptz;
    return;
  end if;
  perform 1 from effects.authority a
  where exists (select 1 from effects.operation o where o.operation = id and o.tenant = a.tenant and o.subject = a.subject) for update;
  perform 1 from effects.policy p where p.policy = (select o.policy from effects.operation o where o.operation = id) for update;
  select * into op from effects.operation o where o.operation = id for update;
  if op.state <> 'CLAIMED' or op.epoch <> at_epoch then
    return query select id, 'fenced', at_epoch, op.attempt, null::timestamptz;
    return;
  end if;
  return query select * from effects.start_locked(array[id], array[at_epoch], by_holder);
end $$;

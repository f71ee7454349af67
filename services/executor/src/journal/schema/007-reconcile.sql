-- A newer epoch on the resource of an operation that may have had its effect: whoever holds it may look at the target and say
-- what is there. A STARTED one of an older epoch becomes UNCERTAIN. Null = another holds the claim, or there is nothing to do.
create or replace function effects.claim_to_reconcile(id text, by_holder text, lease interval, longest_pause integer)
returns effects.operation language plpgsql as $$
declare
  op effects.operation;
  granted bigint;
begin
  select * into op from effects.operation o where o.operation = id;
  if not found or op.state not in ('UNCERTAIN', 'STARTED') then return null; end if;
  select g.epoch into granted from claims.acquire(array[op.claim], by_holder, lease) g;
  if granted is null then return null; end if;
  select * into op from effects.operation o where o.operation = id for update;
  if op.state = 'STARTED' and op.epoch < granted then
    op.epoch := granted;
    return effects.move(op, 'UNCERTAIN', 'headway.effect.uncertain', 'a newer epoch found it started');
  end if;
  if op.state <> 'UNCERTAIN' then
    update claims.claim c set lease_until = '-infinity' where c.resource = op.claim and c.epoch = granted;
    return null;
  end if;
  op.epoch := granted;
  op.looks := op.looks + 1;
  op.next_look_at := clock_timestamp() + least(2 ^ least(op.looks, 10), longest_pause) * interval '1 second';
  update effects.operation o set epoch = op.epoch, looks = op.looks, next_look_at = op.next_look_at where o.operation = id;
  return op;
end $$;

-- Whether "it is not there" may authorise a repeat: the table of judgeRetry in domain/effects, by this clock.
create or replace function effects.retry_judgement(op effects.operation, observed text, egress_drained boolean)
returns text language sql stable as $$
  select case
    when observed = 'unknown' then 'no: the look at the target gave no complete answer'
    when op.deadline_at > clock_timestamp() then 'no: the newest attempt may still be under way'
    when op.class = 'K' then
      case when op.retention_ms is not null
        and extract(epoch from clock_timestamp() - op.first_started_at) * 1000 + op.timeout_ms + op.processing_ms <= op.retention_ms
        then 'yes: the target still remembers the key' else 'no: the target may have forgotten the key' end
    when op.class = 'C' then
      case when observed = 'absent' then 'yes: the condition was fixed when the effect was asked for'
        else 'no: the target cannot be looked at' end
    when op.class = 'P' then
      case when observed <> 'absent' then 'no: the target cannot be looked at'
        when not egress_drained then 'no: the egress process of an attempt may still hold its request'
        when extract(epoch from clock_timestamp() - op.deadline_at) * 1000 < op.processing_ms then 'no: the target may still be working on an earlier attempt'
        else 'yes: nothing of the earlier attempts can still land, and nothing is there' end
    else 'no: the target can neither be looked at nor told apart a repeat: a person decides' end
$$;

-- Keeps what a look at the target told, and gives the claim back. `outcome`: succeeded | retry | uncertain | fenced.
create or replace function effects.reconcile(
  id text, at_epoch bigint, by_holder text, observed text, of_result text, detail text, egress_drained boolean,
  out outcome text, out op effects.operation)
language plpgsql as $$
declare
  judged text;
  why text;
begin
  perform 1 from claims.claim c join effects.operation o on o.claim = c.resource
  where o.operation = id and c.epoch = at_epoch and c.holder = by_holder and c.lease_until > clock_timestamp()
  for update of c;
  if not found then outcome := 'fenced'; return; end if;
  perform 1 from effects.authority a
  where exists (select 1 from effects.operation o where o.operation = id and o.tenant = a.tenant and o.subject = a.subject) for update;
  select * into op from effects.operation o where o.operation = id for update;
  if op.state <> 'UNCERTAIN' or op.epoch > at_epoch then outcome := 'fenced'; return; end if;
  update claims.claim c set lease_until = '-infinity' where c.resource = op.claim and c.epoch = at_epoch;
  if observed = 'present' then
    op.state := 'SUCCEEDED';
    op.result := of_result;
    op.reason := null;
    op := effects.append(op, 'headway.effect.succeeded', jsonb_build_object(
      'result', of_result::jsonb, 'source', 'observation', 'by', null, 'reason', null));
    outcome := 'succeeded';
    return;
  end if;
  judged := effects.retry_judgement(op, observed, egress_drained);
  why := effects.refusal_of(op);
  if judged like 'yes: %' and why is null then
    op.repeat_until := case when op.class = 'K' then
      op.first_started_at + (op.retention_ms - op.timeout_ms - op.processing_ms) * interval '1 millisecond' end;
    op := effects.move(op, 'RETRY_AUTHORISED', 'headway.effect.retry-authorised', substr(judged, 6), '{"by": null}');
    outcome := 'retry';
    return;
  end if;
  why := case when judged like 'no: %' then substr(judged, 5) else case why when 'False' then 'the verdict is False' else why end end;
  if detail <> '' then why := why || ' (' || left(detail, 500) || ')'; end if;
  update effects.operation o set reason = why where o.operation = id and o.reason is distinct from why;
  op.reason := why;
  outcome := 'uncertain';
end $$;

-- A named operator says what became of it, and why.
create or replace function effects.resolve(of_tenant text, id text, to_state text, by_whom text, why text, of_result text,
  out outcome text, out op effects.operation)
language plpgsql as $$
begin
  select * into op from effects.operation o where o.operation = id and o.tenant = of_tenant for update;
  if not found then outcome := 'not-known'; return; end if;
  if op.state <> 'UNCERTAIN' then outcome := 'not-in-this-state'; return; end if;
  outcome := 'resolved';
  op.reason := why;
  op.state := to_state;
  if to_state = 'SUCCEEDED' then
    op.result := of_result;
    op := effects.append(op, 'headway.effect.succeeded', jsonb_build_object(
      'result', of_result::jsonb, 'source', 'operator', 'by', by_whom, 'reason', why));
  elsif to_state = 'RETRY_AUTHORISED' then
    op.repeat_until := null;
    op := effects.append(op, 'headway.effect.retry-authorised', jsonb_build_object('reason', why, 'by', by_whom));
  else
    op := effects.append(op, 'headway.effect.abandoned', jsonb_build_object('reason', why, 'by', by_whom));
  end if;
end $$;

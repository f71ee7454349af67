create or replace function effects.policy_left(p effects.policy)
returns bigint language sql stable as $$
  select p.maximum_per_hour - coalesce(
    (select sum(u.used) from effects.policy_use u where u.policy = p.policy and u.minute > clock_timestamp() - interval '1 hour'), 0)
$$;

-- Why an operation may not be admitted or started now; null = it may. 'False' is the verdict and final. The rule is that of
-- judgeAuthority in domain/effects. The caller of a start holds the lock of the row that is read here.
create or replace function effects.refusal_of(op effects.operation)
returns text language plpgsql stable as $$
declare
  a effects.authority;
  p effects.policy;
begin
  if op.subject is null then
    select * into p from effects.policy where policy = op.policy;
    if not found then return 'no policy of an operator allows it'; end if;
    if p.revoked_at is not null then return 'the policy was revoked'; end if;
    if op.attempt = 0 and effects.policy_left(p) <= 0 then return 'the policy allows no more within this hour'; end if;
    return null;
  end if;
  select * into a from effects.authority where tenant = op.tenant and subject = op.subject;
  if not found then return 'nothing authorises it'; end if;
  if a.revoked_at is not null then return 'the approval was revoked'; end if;
  if a.verdict = 'False' then return 'False'; end if;
  if a.verdict = 'Unknown' then return 'the verdict is Unknown'; end if;
  if a.plan_revision is not null and a.plan_revision is distinct from op.plan_revision then return 'the plan was superseded'; end if;
  if not a.fingerprints @> op.assumptions then return 'an assumption moved'; end if;
  if op.attempt = 0 and a.used >= a.maximum then return 'the approved number of effects is used up'; end if;
  return null;
end $$;

create or replace function effects.matching_policy(op effects.operation)
returns bigint language sql stable as $$
  select p.policy from effects.policy p
  where p.tenant = op.tenant and p.kind = op.kind and p.revoked_at is null and op.target like p.target_like
  order by effects.policy_left(p) <= 0, p.policy
  limit 1
$$;

-- PROPOSED becomes ADMITTED or REJECTED, or stays. The caller holds the lock of the operation.
create or replace function effects.judge(op effects.operation)
returns effects.operation language plpgsql as $$
declare
  why text;
begin
  if op.state <> 'PROPOSED' then return op; end if;
  if op.subject is null then op.policy := effects.matching_policy(op); end if;
  why := effects.refusal_of(op);
  if why is null then
    op.state := 'ADMITTED';
    op.reason := null;
    return effects.append(op, 'headway.effect.admitted',
      jsonb_build_object('authority', coalesce(op.subject, 'policy ' || op.policy)));
  end if;
  -- One that was started once may have had its effect: no verdict can say any more that it never will.
  if why = 'False' and op.attempt = 0 then
    return effects.move(op, 'REJECTED', 'headway.effect.rejected', 'the verdict is False');
  end if;
  update effects.operation o set reason = why where o.operation = op.operation and o.reason is distinct from why;
  op.reason := why;
  return op;
end $$;

-- What waits for a subject, or for any policy, is judged again.
create or replace function effects.judge_waiting(of_tenant text, of_subject text, most integer)
returns integer language plpgsql as $$
declare
  op effects.operation;
  admitted integer := 0;
begin
  for op in
    select * from effects.operation o
    where o.state = 'PROPOSED' and (of_tenant is null or o.tenant = of_tenant) and o.subject is not distinct from of_subject
    order by o.created_at limit most
    for update skip locked
  loop
    op := effects.judge(op);
    if op.state = 'ADMITTED' then admitted := admitted + 1; end if;
  end loop;
  return admitted;
end $$;

-- Everything that is admitted under an authority that no longer holds goes back. What was started is never withdrawn.
create or replace function effects.withdraw_all(of_tenant text, of_subject text, of_policy bigint, why text)
returns integer language plpgsql as $$
declare
  op effects.operation;
  withdrawn integer := 0;
begin
  for op in
    select * from effects.operation o
    where o.state in ('ADMITTED', 'CLAIMED', 'RETRY_AUTHORISED')
      and ((of_subject is not null and o.tenant = of_tenant and o.subject = of_subject)
        or (of_policy is not null and o.policy = of_policy))
    order by o.operation
    for update
  loop
    if of_policy is null and effects.refusal_of(op) is null then continue; end if;
    perform effects.move(op, 'PROPOSED', 'headway.effect.withdrawn', why);
    withdrawn := withdrawn + 1;
  end loop;
  return withdrawn;
end $$;

-- The verdict over a subject, as the newest observation has it. An older observation never replaces a newer one.
create or replace function effects.set_authority(
  of_tenant text, of_subject text, new_verdict text, at_time timestamptz, revision text, new_approval text,
  new_maximum integer, prints jsonb, by_whom text)
returns effects.authority language plpgsql as $$
declare
  a effects.authority;
begin
  insert into effects.authority as held
    (tenant, subject, verdict, observed_at, plan_revision, approval, maximum, fingerprints, written_by)
  values (of_tenant, of_subject, new_verdict, at_time, revision, new_approval, new_maximum, prints, by_whom)
  on conflict (tenant, subject) do update
    set verdict = excluded.verdict, observed_at = excluded.observed_at, plan_revision = excluded.plan_revision,
        approval = excluded.approval, maximum = excluded.maximum, fingerprints = excluded.fingerprints,
        revoked_at = null, written_by = excluded.written_by
    where held.observed_at < excluded.observed_at
  returning * into a;
  if not found then
    select * into a from effects.authority where tenant = of_tenant and subject = of_subject;
    return a;
  end if;
  perform effects.withdraw_all(of_tenant, of_subject, null, 'the authority changed');
  perform effects.judge_waiting(of_tenant, of_subject, 10000);
  return a;
end $$;

-- Once this has been answered nothing starts under the authority: a start under way holds the row, so this waits for it.
create or replace function effects.revoke_authority(of_tenant text, of_subject text, by_whom text)
returns effects.authority language plpgsql as $$
declare
  a effects.authority;
begin
  update effects.authority
  set revoked_at = coalesce(revoked_at, clock_timestamp()), observed_at = greatest(observed_at, clock_timestamp()), written_by = by_whom
  where tenant = of_tenant and subject = of_subject
  returning * into a;
  if found then perform effects.withdraw_all(of_tenant, of_subject, null, 'the approval was revoked'); end if;
  return a;
end $$;

create or replace function effects.revoke_policy(of_tenant text, which bigint, by_whom text)
returns effects.policy language plpgsql as $$
declare
  p effects.policy;
begin
  update effects.policy
  set revoked_at = coalesce(revoked_at, clock_timestamp()), revoked_by = coalesce(revoked_by, by_whom)
  where tenant = of_tenant and policy = which
  returning * into p;
  if found then perform effects.withdraw_all(of_tenant, null, which, 'the policy was revoked'); end if;
  return p;
end $$;

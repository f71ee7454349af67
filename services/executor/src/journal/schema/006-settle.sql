-- Keeps the answer of one attempt, and gives its claim back. The rule is that of `settle` in domain/effects: a success is
-- evidence whenever it comes; a failure counts only for the running attempt, and only where no earlier one may have landed.
create or replace function effects.settle_one(id text, at_epoch bigint, answer text, of_result text, why text, most_evidence integer)
returns effects.operation language plpgsql as $$
declare
  op effects.operation;
  running boolean;
begin
  update claims.claim c set lease_until = '-infinity'
  from effects.operation o where o.operation = id and c.resource = o.claim and c.epoch = at_epoch;
  select * into op from effects.operation o where o.operation = id for update;
  if not found or op.attempt = 0 or at_epoch > op.epoch then return op; end if;
  running := op.state = 'STARTED' and op.epoch = at_epoch;
  if answer = 'succeeded' then
    if op.state in ('SUCCEEDED', 'FAILED', 'REJECTED', 'ABANDONED') then
      return effects.note(op, 'a late success', left(of_result, 2000), most_evidence);
    end if;
    op.state := 'SUCCEEDED';
    op.result := of_result;
    op.reason := null;
    return effects.append(op, 'headway.effect.succeeded', jsonb_build_object(
      'result', of_result::jsonb, 'source', case when running then 'answer' else 'late-answer' end, 'by', null, 'reason', null));
  end if;
  if not running then return effects.note(op, 'a late answer: ' || answer, left(why, 2000), most_evidence); end if;
  if answer in ('refused', 'not-sent') then
    if op.attempt = 1 then return effects.move(op, 'FAILED', 'headway.effect.failed', why); end if;
    why := why || '; an earlier attempt may have had the effect';
  end if;
  return effects.move(op, 'UNCERTAIN', 'headway.effect.uncertain', why);
end $$;

create or replace function effects.settle(ids text[], epochs bigint[], answers text[], results text[], reasons text[], most_evidence integer)
returns table (operation text, state text) language plpgsql as $$
declare
  s record;
  op effects.operation;
begin
  -- In the order in which `take` locks them.
  perform 1 from claims.claim c
  where c.resource in (select o.claim from effects.operation o where o.operation = any(ids))
  order by c.resource for update;
  for s in select * from unnest(ids, epochs, answers, results, reasons) as a (id, epoch, answer, result, reason) order by id loop
    op := effects.settle_one(s.id, s.epoch, s.answer, s.result, s.reason, most_evidence);
    operation := s.id;
    state := op.state;
    return next;
  end loop;
end $$;

-- What is STARTED past its deadline, or under an older epoch than its claim's, is UNCERTAIN: nobody may guess.
create or replace function effects.sweep(grace interval, most integer)
returns integer language plpgsql as $$
declare
  op effects.operation;
  swept integer := 0;
begin
  for op in
    select o.* from effects.operation o
    where o.state = 'STARTED' and o.deadline_at < clock_timestamp() - grace
    order by o.deadline_at limit most
    for update of o skip locked
  loop
    perform effects.move(op, 'UNCERTAIN', 'headway.effect.uncertain', 'no answer was kept before the deadline');
    swept := swept + 1;
  end loop;
  return swept;
end $$;

-- Asks for an operation. The answer is the row that stands; `fresh` says whether this call made it. Whether the digest is
-- the one asked for is for the caller to compare.
create or replace function effects.request(
  id text, of_tenant text, of_kind text, to_target text, by_key text, gen integer, of_digest text, of_inputs text,
  on_resource text, on_claim text, of_class text, timeout integer, processing bigint, retention bigint,
  by_subject text, revision text, assumed jsonb, by_whom text,
  out fresh boolean, out op effects.operation)
language plpgsql as $$
begin
  insert into effects.operation
    (operation, tenant, kind, target, key, generation, digest, inputs, resource, claim, class, timeout_ms, processing_ms,
     retention_ms, subject, plan_revision, assumptions, requested_by, state)
  values
    (id, of_tenant, of_kind, to_target, by_key, gen, of_digest, of_inputs, on_resource, on_claim, of_class, timeout, processing,
     retention, by_subject, revision, assumed, by_whom, 'PROPOSED')
  on conflict (operation) do nothing
  returning * into op;
  fresh := found;
  if not fresh then
    select * into op from effects.operation o where o.operation = id;
    return;
  end if;
  op := effects.append(op, 'headway.effect.proposed', jsonb_build_object(
    'kind', op.kind, 'target', op.target, 'key', op.key, 'generation', op.generation, 'digest', op.digest,
    'inputs', op.inputs, 'resource', op.resource, 'claim', op.claim, 'class', op.class, 'timeoutMs', op.timeout_ms,
    'processingMs', op.processing_ms, 'retentionMs', op.retention_ms, 'authority', op.subject,
    'planRevision', op.plan_revision, 'assumptions', op.assumptions, 'by', op.requested_by));
  op := effects.judge(op);
end $$;

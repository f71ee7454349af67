import {
  defaultPolicy,
  type PoliciesView,
  type PolicyNumbers,
  type PolicyView,
  policyNumberNames,
  policyOf,
} from '@headway/contracts';
import { ok } from '@headway/kernel';
import type { PolicyRow } from '@headway/readmodel';
import type { FastifyInstance } from 'fastify';
import { answering, awaitCover, evidencePosition, type Reading } from './context.ts';
import { parameters, readQuery } from './parameters.ts';

/** Lanes with a policy of their own that are shown. */
export const SHOWN_POLICIES = 1_000;

/** `GET /v1/policy`: the numbers that the rules go by, for the tenant and for each lane that has its own. */
export function mountPolicy(app: FastifyInstance, reading: Reading): void {
  app.get(
    '/v1/policy',
    { config: { act: 'read' } },
    answering(async (request) => {
      const query = readQuery(parameters.one, request.query);
      if (!query.ok) return query;
      const covered = await awaitCover(reading, request, { work: null, depth: 'evidence', after: query.value.after });
      if (!covered.ok) return covered;
      const position = await evidencePosition(reading);
      const rows = await reading.views.newestPolicies(request.caller.tenant, SHOWN_POLICIES);
      const set = rows.filter(({ numbers }) => numbers !== null);
      const view: PoliciesView = {
        position,
        version: Math.max(0, ...rows.map(({ version }) => version)),
        policies: [...(set[0]?.lane === null ? [] : [unset]), ...set.map(policyView)],
        defaults: numbersOf(defaultPolicy),
      };
      return ok(view);
    }),
  );
}

const numbersOf = (policy: PolicyNumbers): PolicyNumbers =>
  Object.fromEntries(policyNumberNames.map((name) => [name, policy[name]])) as unknown as PolicyNumbers;

const unset: PolicyView = {
  lane: null,
  version: 0,
  numbers: numbersOf(defaultPolicy),
  differs: {},
  by: null,
  why: null,
  setAt: null,
};

function policyView({ lane, version, numbers, by, why, setAt }: PolicyRow): PolicyView {
  const policy = policyOf(version, numbers ?? {});
  return {
    lane,
    version,
    numbers: numbersOf(policy),
    differs: policy.differs ?? {},
    by,
    why,
    setAt: new Date(setAt).toISOString(),
  };
}

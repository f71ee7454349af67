import { effectLimits, limits, problem, verdicts } from '@headway/contracts';
import { sendProblem } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Failpoints } from '../failpoints.ts';
import type { Journal } from '../ports.ts';
import { readBody } from './body.ts';

const label = z.string().trim().min(1).max(limits.name);

const authoritySchema = z.strictObject({
  verdict: z.enum(verdicts),
  observedAt: z.iso.datetime({ offset: true }),
  planRevision: label.nullable().default(null),
  approval: label.nullable().default(null),
  maximum: z.number().int().min(0).max(1_000_000),
  fingerprints: z.record(label, label).default({}),
  by: label,
});

const policySchema = z.strictObject({
  kind: z.string().min(1).max(64),
  /** `*` stands for any text. */
  target: z.string().min(1).max(effectLimits.target),
  maximumPerHour: z.number().int().min(1).max(1_000_000),
  by: label,
  reason: z.string().trim().min(1).max(effectLimits.reason),
});

const revocationSchema = z.strictObject({ by: label });

export interface AuthorityRoutes {
  readonly journal: Journal;
  readonly onChange: () => void;
  readonly failpoints: Failpoints;
}

/** What authorises effects: verdicts over subjects, and policies. Every write is an operator's. */
export function mountAuthorities(app: FastifyInstance, { journal, onChange, failpoints }: AuthorityRoutes): void {
  const operate = { config: { act: 'operate' } } as const;
  const read = { config: { act: 'read' } } as const;

  app.put<{ Params: { subject: string } }>('/v1/effects/authorities/:subject', operate, async (request, reply) => {
    const body = readBody(authoritySchema, request.body);
    if (!body.ok) return sendProblem(reply, body.failure);
    if (failpoints !== null) await failpoints('c03');
    const authority = await journal.setAuthority(request.caller.tenant, {
      subject: request.params.subject,
      ...body.value,
    });
    onChange();
    return reply.send(authority);
  });
  app.get<{ Params: { subject: string } }>('/v1/effects/authorities/:subject', read, async (request, reply) => {
    const authority = await journal.authority(request.caller.tenant, request.params.subject);
    return authority === null ? sendProblem(reply, noAuthority(request.params.subject)) : reply.send(authority);
  });
  app.post<{ Params: { subject: string } }>(
    '/v1/effects/authorities/:subject/revoke',
    operate,
    async (request, reply) => {
      const body = readBody(revocationSchema, request.body);
      if (!body.ok) return sendProblem(reply, body.failure);
      const authority = await journal.revokeAuthority(request.caller.tenant, request.params.subject, body.value.by);
      onChange();
      return authority === null ? sendProblem(reply, noAuthority(request.params.subject)) : reply.send(authority);
    },
  );

  app.get('/v1/effects/policies', read, async (request) => ({ items: await journal.policies(request.caller.tenant) }));
  app.post('/v1/effects/policies', operate, async (request, reply) => {
    const body = readBody(policySchema, request.body);
    if (!body.ok) return sendProblem(reply, body.failure);
    const policy = await journal.writePolicy(request.caller.tenant, body.value);
    onChange();
    return reply.code(201).send(policy);
  });
  app.post<{ Params: { policy: string } }>('/v1/effects/policies/:policy/revoke', operate, async (request, reply) => {
    const body = readBody(revocationSchema, request.body);
    if (!body.ok) return sendProblem(reply, body.failure);
    const number = /^\d{1,15}$/.test(request.params.policy) ? Number(request.params.policy) : null;
    const policy = number === null ? null : await journal.revokePolicy(request.caller.tenant, number, body.value.by);
    onChange();
    return policy === null ? sendProblem(reply, noAuthority(`policy ${request.params.policy}`)) : reply.send(policy);
  });
}

const noAuthority = (name: string) =>
  problem('authority_not_found', `There is no ${JSON.stringify(name.slice(0, 80))} in this tenant.`);

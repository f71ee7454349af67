import type { Claim, Claims } from '@headway/claims';
import {
  CLAIMS_SOURCE,
  contentDigest,
  encodeRecord,
  limits,
  type Problem,
  problem,
  sizingSchema,
  subjects,
} from '@headway/contracts';
import type { EventLog } from '@headway/eventlog';
import { ok, type Result, refused } from '@headway/kernel';
import { type Logger, sendProblem } from '@headway/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readBody } from './body.ts';

export const LONGEST_LEASE_SECONDS = 24 * 60 * 60;
const RESOURCE_CHARACTERS = 300;

const lease = z.number().int().min(1).max(LONGEST_LEASE_SECONDS);
const name = z.string().trim().min(1).max(limits.name);

const acquireSchema = z.strictObject({
  /** `work/<id>` for a work; any other name for what else needs one owner. */
  resource: z.string().min(1).max(RESOURCE_CHARACTERS),
  holder: name,
  leaseSeconds: lease.default(300),
  /** What a claimed work is told beside its worker; only for `work/…`. */
  work: z
    .strictObject({
      orchestrator: name.optional(),
      lane: name.optional(),
      base: name.optional(),
      criteria: z.array(z.string().max(limits.text)).max(1_000).optional(),
      sizing: sizingSchema.optional(),
    })
    .optional(),
});
const tokenSchema = z.strictObject({ token: z.string().min(1).max(4_096), leaseSeconds: lease.default(300) });

export interface ClaimsRoutes {
  readonly claims: Claims;
  readonly log: Pick<EventLog, 'append'>;
  readonly logger: Logger;
  readonly unready: () => Problem | null;
}

/** `/v1/claims`: the one way in which an agent becomes the owner of something. */
export function mountClaims(app: FastifyInstance, routes: ClaimsRoutes): void {
  const report = { config: { act: 'report' } } as const;
  app.post('/v1/claims', report, (request, reply) => acquire(request, reply, routes));
  app.post('/v1/claims/renew', report, (request, reply) =>
    withToken(request, reply, routes, 'renew', (claim, seconds) => routes.claims.renew([claim], seconds)),
  );
  app.post('/v1/claims/wait', report, (request, reply) =>
    withToken(request, reply, routes, 'wait', (claim, seconds) => routes.claims.wait([claim], seconds)),
  );
  app.post('/v1/claims/release', report, (request, reply) =>
    withToken(request, reply, routes, 'release', (claim) => routes.claims.release([claim])),
  );
  app.get<{ Querystring: { prefix?: string } }>('/v1/claims', { config: { act: 'read' } }, async (request) => {
    const scope = scopeOf(request.caller.tenant);
    const listed = await routes.claims.list(scope + (request.query.prefix ?? '').slice(0, RESOURCE_CHARACTERS));
    return { items: listed.map((claim) => ({ ...claim, resource: claim.resource.slice(scope.length) })) };
  });
}

const scopeOf = (tenant: string): string => `agent/${tenant}/`;

async function acquire(request: FastifyRequest, reply: FastifyReply, routes: ClaimsRoutes) {
  const away = routes.unready();
  if (away !== null) return sendProblem(reply, away, { 'retry-after': '1' });
  const body = readBody(acquireSchema, request.body);
  if (!body.ok) return sendProblem(reply, body.failure);
  const { resource, holder, leaseSeconds, work } = body.value;
  const workId = resource.startsWith('work/') ? resource.slice('work/'.length) : null;
  if (work !== undefined && workId === null)
    return sendProblem(
      reply,
      problem('invalid_body', 'Only a claim on `work/<id>` says what is known of a work.', '/work'),
    );
  if (workId !== null && (workId === '' || workId.length > limits.workId))
    return sendProblem(
      reply,
      problem('invalid_body', `The id of a work has 1 to ${limits.workId} characters.`, '/resource'),
    );
  const { tenant } = request.caller;
  const [claim] = await routes.claims.acquire([scopeOf(tenant) + resource], holder, leaseSeconds);
  if (claim === undefined)
    return sendProblem(
      reply,
      problem('claim_held', 'Another holder has it. Try again when its lease has ended or it was given back.'),
    );
  if (workId !== null && !(await tellWork(routes.log, tenant, workId, claim, work ?? {}))) {
    await routes.claims.release([claim]);
    return sendProblem(
      reply,
      problem('log_unavailable', 'The claim could not be told to the log, and was given back. Try again.'),
    );
  }
  return reply.code(201).send(shown(tenant, claim, leaseSeconds));
}

/** What a caller is shown of a claim. The token names resource, epoch and holder; it is no secret, the epoch is what counts. */
const shown = (tenant: string, { resource, epoch, holder }: Claim, leaseSeconds: number) => ({
  resource: resource.slice(scopeOf(tenant).length),
  epoch,
  holder,
  leaseSeconds,
  token: Buffer.from(JSON.stringify([tenant, resource, epoch, holder]), 'utf8').toString('base64url'),
});

/** The claim of a token of this tenant. */
export function readClaimToken(tenant: string, token: string): Result<Claim, Problem> {
  const bad = refused(
    problem('invalid_body', '`token` has to be one that a claim was answered with, in this tenant.', '/token'),
  );
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 4) return bad;
    const [of, resource, epoch, holder] = parts as unknown[];
    if (of !== tenant || typeof resource !== 'string' || !resource.startsWith(scopeOf(tenant))) return bad;
    if (!Number.isSafeInteger(epoch) || typeof holder !== 'string') return bad;
    return ok({ resource, epoch: epoch as number, holder });
  } catch {
    return bad;
  }
}

async function withToken(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: ClaimsRoutes,
  what: string,
  use: (claim: Claim, seconds: number) => Promise<readonly Claim[]>,
) {
  const { tenant } = request.caller;
  const body = readBody(tokenSchema, request.body);
  if (!body.ok) return sendProblem(reply, body.failure);
  const claim = readClaimToken(tenant, body.value.token);
  if (!claim.ok) return sendProblem(reply, claim.failure);
  const [kept] = await use(claim.value, body.value.leaseSeconds);
  if (kept !== undefined) return reply.send(shown(tenant, kept, body.value.leaseSeconds));
  await keepFenced(routes, tenant, claim.value, what);
  return sendProblem(
    reply,
    problem(
      'fenced',
      `Epoch ${claim.value.epoch} is not the holder's any more: the lease ended, or another took over. Stop this work; claim again to go on.`,
    ),
  );
}

/** A stale token is evidence that somebody went on after losing a claim. */
async function keepFenced({ log, logger }: ClaimsRoutes, tenant: string, claim: Claim, what: string): Promise<void> {
  const event = {
    v: 1,
    type: 'headway.claim.fenced',
    resource: claim.resource.slice(scopeOf(tenant).length),
    epoch: claim.epoch,
    holder: claim.holder,
    asked: what,
  };
  logger.warn({ tenant, ...event }, 'a stale claim token was refused');
  const kept = await log.append({ subject: subjects.act(tenant), payload: Buffer.from(JSON.stringify(event), 'utf8') });
  if (kept.outcome === 'unavailable') logger.error({ tenant, ...event }, 'a refused claim token could not be kept');
}

/** The work's incarnation is the claim's epoch. */
async function tellWork(
  log: Pick<EventLog, 'append'>,
  tenant: string,
  work: string,
  claim: Claim,
  more: NonNullable<z.output<typeof acquireSchema>['work']>,
): Promise<boolean> {
  const event = {
    specversion: '1.0',
    id: `${claim.resource}@${claim.epoch}`,
    source: CLAIMS_SOURCE,
    type: 'headway.work.claimed',
    subject: work,
    time: new Date().toISOString(),
    incarnation: claim.epoch,
    data: { worker: claim.holder, ...more },
  } as const;
  const commit = { v: 1, events: [event], contents: [contentDigest(event)] } as Parameters<typeof encodeRecord>[0];
  const told = await log.append({
    subject: subjects.claimed(tenant, work),
    payload: encodeRecord(commit),
    messageId: event.id,
  });
  return told.outcome === 'appended' || told.outcome === 'duplicate';
}

import {
  depthOf,
  type EffectRequest,
  type EffectView,
  effectLimits,
  effectRequestSchema,
  effectStates,
  limits,
  type Problem,
  problem,
} from '@headway/contracts';
import { type Adapter, operationId, requestDigest } from '@headway/effects';
import { canonicalJson, ok, type Result, refused } from '@headway/kernel';
import { sendProblem } from '@headway/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Failpoints } from '../failpoints.ts';
import type { Intent, Journal, Work } from '../ports.ts';
import type { Reconciled } from '../reconciler.ts';
import { readBody } from './body.ts';

export interface EffectsRoutes {
  readonly journal: Journal;
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly reconcile: (operation: string) => Promise<Reconciled>;
  readonly offer: (work: readonly Work[]) => void;
  readonly onChange: () => void;
  readonly failpoints: Failpoints;
  readonly unready: () => Problem | null;
}

const WAIT_MOST_SECONDS = 30;
const WAIT_LOOK_MS = 50;
const BODY_BYTES = effectLimits.inputBytes * 2;

/** What an operation does not leave by itself in a moment. */
const RESTING = new Set(['PROPOSED', 'UNCERTAIN', 'SUCCEEDED', 'FAILED', 'REJECTED', 'ABANDONED']);

const resolutionSchema = z.strictObject({
  to: z.enum(['SUCCEEDED', 'RETRY_AUTHORISED', 'ABANDONED']),
  /** The operator, by name. */
  by: z.string().trim().min(1).max(limits.name),
  reason: z.string().trim().min(1).max(effectLimits.reason),
  result: z.json().optional(),
});

const querySchema = z.strictObject({
  state: z.enum(effectStates).optional(),
  kind: z.string().max(64).optional(),
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(effectLimits.page).default(50),
});

/** `/v1/effects`: asking, looking, reconciling and resolving. */
export function mountEffects(app: FastifyInstance, routes: EffectsRoutes): void {
  app.post('/v1/effects', { config: { act: 'report' }, bodyLimit: BODY_BYTES }, (request, reply) =>
    ask(request, reply, routes),
  );
  app.get('/v1/effects', { config: { act: 'read' } }, (request, reply) => list(request, reply, routes.journal));
  app.get<{ Params: { operation: string } }>(
    '/v1/effects/:operation',
    { config: { act: 'read' } },
    async (request, reply) => {
      const view = await routes.journal.get(request.caller.tenant, request.params.operation);
      return view === null ? sendProblem(reply, notFound(request.params.operation)) : reply.send(view);
    },
  );
  app.get<{ Params: { operation: string } }>(
    '/v1/effects/:operation/history',
    { config: { act: 'read' } },
    async (request, reply) => {
      const { operation } = request.params;
      const records = await routes.journal.history(request.caller.tenant, operation);
      return records.length === 0 ? sendProblem(reply, notFound(operation)) : reply.send({ operation, records });
    },
  );
  app.post<{ Params: { operation: string } }>(
    '/v1/effects/:operation/reconcile',
    { config: { act: 'report' } },
    (request, reply) => reconcile(request.params.operation, request, reply, routes),
  );
  app.post<{ Params: { operation: string } }>(
    '/v1/effects/:operation/resolve',
    { config: { act: 'operate' } },
    (request, reply) => resolve(request.params.operation, request, reply, routes),
  );
}

const notFound = (operation: string): Problem =>
  problem('effect_not_found', `No operation ${JSON.stringify(operation.slice(0, 80))} was asked for in this tenant.`);

async function ask(request: FastifyRequest, reply: FastifyReply, routes: EffectsRoutes) {
  const { journal, failpoints } = routes;
  const away = routes.unready();
  if (away !== null) return sendProblem(reply, away, { 'retry-after': '1' });
  const wait = waitOf(request.query);
  if (!wait.ok) return sendProblem(reply, wait.failure);
  const body = readBody(effectRequestSchema, request.body);
  if (!body.ok) return sendProblem(reply, body.failure);
  const intent = intentOf(request.caller.tenant, body.value, routes.adapters);
  if (!intent.ok) return sendProblem(reply, intent.failure);
  if (failpoints !== null) await failpoints('c01');
  const { fresh, view } = await journal.request(intent.value);
  if (failpoints !== null) await failpoints('c02');
  if (view.digest !== intent.value.digest)
    return sendProblem(
      reply,
      problem(
        'operation_conflict',
        'The same tenant, kind, target, key and generation were asked for with other inputs. Take another key for another intent, or the next generation for a deliberate repeat.',
        '/inputs',
      ),
    );
  routes.onChange();
  if (view.state === 'ADMITTED' || view.state === 'RETRY_AUTHORISED') routes.offer([intent.value]);
  const shown = wait.value === 0 ? view : await untilResting(journal, view, wait.value);
  return reply.code(fresh ? 202 : 200).send(shown);
}

function waitOf(query: unknown): Result<number, Problem> {
  const text = (query as { wait?: string }).wait ?? '0';
  const seconds = Number(text);
  return /^\d{1,2}$/.test(text) && seconds <= WAIT_MOST_SECONDS
    ? ok(seconds)
    : refused(problem('invalid_parameter', `\`wait\` has to be a whole number of seconds up to ${WAIT_MOST_SECONDS}.`));
}

function intentOf(tenant: string, asked: EffectRequest, adapters: EffectsRoutes['adapters']): Result<Intent, Problem> {
  const adapter = adapters.get(asked.kind);
  if (adapter === undefined)
    return refused(problem('unknown_kind', `The kinds served here are: ${[...adapters.keys()].join(', ')}.`, '/kind'));
  if (asked.authority === undefined && (asked.planRevision !== undefined || asked.assumptions !== undefined))
    return refused(
      problem(
        'invalid_body',
        'A plan revision or an assumption needs the `authority` that it is judged by.',
        '/authority',
      ),
    );
  if (depthOf(asked.inputs, limits.depth) > limits.depth)
    return refused(problem('too_deep', `The inputs are nested deeper than ${limits.depth} levels.`, '/inputs'));
  const inputs = canonicalJson(asked.inputs);
  if (Buffer.byteLength(inputs) > effectLimits.inputBytes)
    return refused(
      problem('body_too_large', `The inputs are above ${effectLimits.inputBytes} bytes as JSON.`, '/inputs'),
    );
  if (inputs.includes('\\u0000'))
    return refused(problem('invalid_body', 'The inputs hold the character U+0000, which cannot be kept.', '/inputs'));
  const prepared = adapter.prepare({ target: asked.target, inputs: asked.inputs });
  if (!prepared.ok) return refused(problem('invalid_body', prepared.failure.detail, prepared.failure.pointer));
  const identity = { tenant, kind: asked.kind, target: asked.target, key: asked.key, generation: asked.generation };
  const operation = operationId(identity);
  return ok({
    ...identity,
    operation,
    digest: requestDigest(asked.inputs),
    inputs,
    resource: prepared.value.resource ?? operation,
    class: adapter.class,
    timeoutMs: adapter.timeoutMs,
    processingMs: adapter.processingMs,
    retentionMs: adapter.retentionMs,
    authority: asked.authority ?? null,
    planRevision: asked.planRevision ?? null,
    assumptions: asked.assumptions ?? {},
    by: asked.by ?? null,
  });
}

async function untilResting(journal: Journal, view: EffectView, seconds: number): Promise<EffectView> {
  let shown = view;
  const until = performance.now() + seconds * 1_000;
  while (!RESTING.has(shown.state) && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, WAIT_LOOK_MS));
    shown = (await journal.get(view.tenant, view.operation)) ?? shown;
  }
  return shown;
}

async function list(request: FastifyRequest, reply: FastifyReply, journal: Journal) {
  const query = readBody(querySchema, request.query);
  if (!query.ok) return sendProblem(reply, problem('invalid_parameter', query.failure.detail));
  const { state, kind, limit, cursor } = query.value;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (after === null)
    return sendProblem(reply, problem('invalid_parameter', '`cursor` has to be the `next` of the page before.'));
  const items = await journal.list(request.caller.tenant, { state, kind, limit: limit + 1, after });
  const page = items.slice(0, limit);
  const last = page.at(-1);
  return reply.send({ items: page, next: items.length > limit && last !== undefined ? cursorOf(last) : null });
}

const cursorOf = ({ createdAt, operation }: EffectView): string =>
  Buffer.from(`${createdAt} ${operation}`, 'utf8').toString('base64url');

function readCursor(cursor: string) {
  const match = /^(\d{4}-\d\d-\d\dT[\d:.]{5,15}Z) ([0-9a-f]{64})$/.exec(
    Buffer.from(cursor, 'base64url').toString('utf8'),
  );
  return match === null ? null : { createdAt: match[1] as string, operation: match[2] as string };
}

/** Looks at the target now, whatever pause was planned. */
async function reconcile(operation: string, request: FastifyRequest, reply: FastifyReply, routes: EffectsRoutes) {
  const { tenant } = request.caller;
  const view = await routes.journal.get(tenant, operation);
  if (view === null) return sendProblem(reply, notFound(operation));
  if (view.state !== 'UNCERTAIN') return sendProblem(reply, notUncertain(view));
  const outcome = await routes.reconcile(operation);
  return reply.send({ outcome, effect: await routes.journal.get(tenant, operation) });
}

const notUncertain = (view: EffectView): Problem =>
  problem('not_uncertain', `The operation is ${view.state}: there is nothing to find out.`);

async function resolve(operation: string, request: FastifyRequest, reply: FastifyReply, routes: EffectsRoutes) {
  const body = readBody(resolutionSchema, request.body);
  if (!body.ok) return sendProblem(reply, body.failure);
  const { to, by, reason, result } = body.value;
  const how = { to, by, reason, result: result ?? null };
  const { outcome, view } = await routes.journal.resolve(request.caller.tenant, operation, how);
  if (outcome === 'not-known' || view === null) return sendProblem(reply, notFound(operation));
  if (outcome === 'not-in-this-state') return sendProblem(reply, notUncertain(view));
  routes.onChange();
  return reply.send(view);
}

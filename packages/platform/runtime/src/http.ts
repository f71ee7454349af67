import { type AccessSettings, type Act, authorise, type Caller, forbids } from '@headway/access';
import { problem, VERSION } from '@headway/contracts';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { type Checks, runChecks } from './health.ts';
import type { Logger } from './logger.ts';
import { createMetrics, METRICS_TYPE, type Metrics } from './metrics.ts';
import { problemOf, rawAnswer, sendProblem } from './problem-answer.ts';
import { refuseHost, refuseOrigin } from './same-site.ts';
import { beginSpan, extractTrace, type InSpan } from './telemetry.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller has to be allowed to do; `open` = anyone may. Every route declares it. */
    act?: Act | 'open';
  }
  interface FastifyRequest {
    /** Who is asking. Only on routes whose `act` is not `open`. */
    caller: Caller;
    /** The trace this request continues, with the request's own span in it. */
    trace: Context;
    serverSpan: InSpan['span'] | null;
  }
}

export interface HttpOptions {
  readonly service: string;
  readonly logger: Logger;
  readonly access: AccessSettings;
  /** What has to be ready, by name. */
  readonly checks: Checks;
  /** What `/metrics` shows; that of the process alone unless told. */
  readonly metrics?: Metrics;
  /** Host names, with or without port, that the server answers to beside the loopback ones. */
  readonly publicHosts: readonly string[];
  /** Largest body in bytes where a route does not say otherwise. */
  readonly bodyLimit?: number;
  /** A request has to have arrived completely within this time. */
  readonly requestTimeoutMs?: number;
}

export const BODY_BYTES = 1024 * 1024;
export const REQUEST_TIMEOUT_MS = 60_000;
const HEADER_BYTES = 16 * 1024;
const PARAMETER_CHARACTERS = 2_000;

/**
 * The HTTP side of a service: every error as problem details, `/healthz`, `/readyz` and `/metrics`, limits, the check of Host and
 * Origin, and access. A route declares `config: { act }`; its handler finds `request.caller` and `request.trace`.
 */
export function createHttp(options: HttpOptions): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const app: FastifyInstance = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => crypto.randomUUID(),
    bodyLimit: options.bodyLimit ?? BODY_BYTES,
    requestTimeout,
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS },
    http: {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    },
    frameworkErrors: (error, _request, reply) => {
      void sendProblem(reply as unknown as FastifyReply, problemOf(error, 0));
    },
    clientErrorHandler: (error, socket) => {
      if (error.code !== 'ECONNRESET' && socket.writable) socket.end(rawAnswer(error.code));
      else socket.destroy();
    },
  });
  app.removeContentTypeParser('text/plain');
  answerErrors(app);
  guard(app, options);
  mountHealth(app, options);
  return app;
}

function answerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, problem('not_found', `There is no ${request.method} at this address.`)),
  );
  app.setErrorHandler((error: Error, request, reply) => {
    const found = problemOf(error, request.routeOptions.bodyLimit);
    if (found.status >= 500) request.log.error({ err: error }, 'a request broke');
    return sendProblem(reply, found);
  });
}

function guard(app: FastifyInstance, { access, publicHosts, service }: HttpOptions): void {
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('trace', null as unknown as Context);
  app.decorateRequest('serverSpan', null);
  app.addHook('onRoute', (route) => {
    if (route.config?.act === undefined)
      throw new Error(`the route ${String(route.method)} ${route.url} does not declare its act`);
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    request.trace = ROOT_CONTEXT;
    const act = request.routeOptions.config?.act;
    if (isProbe(request)) return;
    const { host, origin } = request.headers;
    const foreign = refuseHost(host, publicHosts) ?? refuseOrigin(request.method, origin, host, publicHosts);
    if (foreign !== null) return sendProblem(reply, foreign);
    beginServerSpan(request, service);
    if (act === undefined || act === 'open') return;
    const caller = authorise(credentialsOf(request), access);
    if (!caller.ok)
      return sendProblem(
        reply,
        caller.failure,
        caller.failure.status === 401 ? { 'www-authenticate': 'Bearer realm="headway"' } : {},
      );
    const forbidden = forbids(caller.value, act);
    if (forbidden !== null) return sendProblem(reply, forbidden);
    request.caller = caller.value;
  });
  app.addHook('onResponse', async (request, reply) => {
    endServerSpan(request, reply.statusCode);
    request.log.debug(
      { method: request.method, route: request.routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime },
      'request',
    );
  });
  app.addHook('onRequestAbort', async (request) => endServerSpan(request, 499));
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Orchestrators and Prometheus ask these by address and without a token. The gateway passes `/metrics` on to nobody. */
const isProbe = (request: FastifyRequest): boolean =>
  request.routeOptions.url !== undefined && probes.has(request.routeOptions.url);

function credentialsOf(request: FastifyRequest) {
  const { authorization, 'headway-tenant': tenant, forwarded, 'x-forwarded-for': forwardedFor } = request.headers;
  return {
    peer: request.socket.remoteAddress,
    forwarded: forwarded !== undefined || forwardedFor !== undefined,
    authorization,
    tenantHeader: Array.isArray(tenant) ? tenant.join(',') : tenant,
  };
}

function beginServerSpan(request: FastifyRequest, service: string): void {
  const route = request.routeOptions.url ?? 'unknown';
  const { span, context } = beginSpan(
    `${request.method} ${route}`,
    { 'http.request.method': request.method, 'http.route': route, 'headway.service': service },
    SpanKind.SERVER,
    extractTrace(request.headers),
  );
  request.serverSpan = span;
  request.trace = context;
}

function endServerSpan(request: FastifyRequest, status: number): void {
  if (request.serverSpan === null) return;
  request.serverSpan.setAttribute('http.response.status_code', status);
  if (status >= 500) request.serverSpan.setStatus({ code: SpanStatusCode.ERROR });
  request.serverSpan.end();
  request.serverSpan = null;
}

function mountHealth(app: FastifyInstance, options: HttpOptions): void {
  const { service, checks, metrics = createMetrics(service) } = options;
  app.get('/metrics', { config: { act: 'open' } }, async (_request, reply) =>
    reply.type(METRICS_TYPE).send(await metrics.render()),
  );
  app.get('/healthz', { config: { act: 'open' } }, async () => ({ service, version: VERSION, alive: true }));
  app.get('/readyz', { config: { act: 'open' } }, async (_request, reply) => {
    const readiness = await runChecks(checks);
    return reply.code(readiness.ready ? 200 : 503).send({ service, version: VERSION, ...readiness });
  });
}

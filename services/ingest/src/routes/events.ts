import { limits, type Problem, problem } from '@headway/contracts';
import { injectTrace, inSpan, PROBLEM_TYPE, sendProblem } from '@headway/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Accept } from '../accept.ts';
import { answerOf } from '../answer.ts';
import { mediaTypes, readForm, unsupported } from '../intake/forms.ts';

/** Bytes of bodies under way at once; a request beyond it is asked to come back. */
export const BODIES_BYTES = 128 * 1024 * 1024;
const RETRY_AFTER = { 'retry-after': '1' };

export interface EventsRoute {
  readonly accept: Accept;
  /** Why nothing can be taken at the moment, or `null`. */
  readonly unready: () => Problem | null;
}

/** `POST /v1/events`: evidence as CloudEvents, in four forms. */
export function mountEvents(app: FastifyInstance, { accept, unready }: EventsRoute): void {
  void app.register(async (scope) => {
    // Bodies are taken apart by `readForm`, event by event; the framework only hands over the bytes.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(Object.values(mediaTypes), { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    const underWay = { bytes: 0 };
    scope.post(
      '/v1/events',
      {
        config: { act: 'report' },
        bodyLimit: limits.batchBytes,
        onRequest: async (request, reply) => admit(request, reply, underWay, unready),
      },
      async (request, reply) => {
        const form = readForm({
          mediaType: mediaTypeOf(request),
          headers: request.headers,
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        });
        if (!form.ok) return sendProblem(reply, form.failure);
        const { tenant } = request.caller;
        const verdicts = await inSpan(
          'ingest.accept',
          { 'headway.tenant': tenant, 'headway.events': form.value.length },
          ({ context }) => accept(tenant, form.value, injectTrace({}, context)),
          { parent: request.trace },
        );
        const { status, body, retry } = answerOf(verdicts);
        if (status === 202) return reply.code(status).send(body);
        if (retry) reply.headers(RETRY_AFTER);
        return reply
          .code(status)
          .type(PROBLEM_TYPE)
          .send(Buffer.from(JSON.stringify(body)));
      },
    );
  });
}

/** Refuses before the body is read what cannot be taken anyway. */
async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  underWay: { bytes: number },
  unready: EventsRoute['unready'],
): Promise<unknown> {
  const away = unready();
  if (away !== null) return sendProblem(reply, away, RETRY_AFTER);
  const mediaType = mediaTypeOf(request);
  const known = (Object.values(mediaTypes) as (string | null)[]).includes(mediaType);
  const empty = request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined;
  if (!known && !(mediaType === null && empty)) return sendProblem(reply, unsupported(mediaType));
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
    return sendProblem(reply, problem('unsupported_media_type', 'Send the body in UTF-8.'));
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return sendProblem(reply, problem('unsupported_media_type', 'Send the body without a Content-Encoding.'));
  const length = Number(request.headers['content-length'] ?? (empty ? 0 : limits.batchBytes));
  if (length > limits.batchBytes)
    return sendProblem(reply, problem('body_too_large', `Send at most ${limits.batchBytes} bytes in one request.`));
  if (underWay.bytes + length > BODIES_BYTES)
    return sendProblem(
      reply,
      problem('too_busy', 'Too many bytes are under way. Send it again in a moment.'),
      RETRY_AFTER,
    );
  underWay.bytes += length;
  // `close` comes once for every response, finished or broken off.
  reply.raw.once('close', () => {
    underWay.bytes -= length;
  });
  return undefined;
}

/** The media type without parameters. */
function mediaTypeOf(request: FastifyRequest): string | null {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  return type === undefined || type === '' ? null : type;
}

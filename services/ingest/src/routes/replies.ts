import { limits, type Problem, problem } from '@headway/contracts';
import { digest, ok, type Result, refused } from '@headway/kernel';
import { injectTrace, inSpan, PROBLEM_TYPE, sendProblem } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Accept } from '../accept.ts';
import { answerOf } from '../answer.ts';
import type { FindThread } from '../ports.ts';
import { readBody } from './body.ts';

/** Bytes of a reply's body: its text and a few names. */
export const REPLY_BYTES = 128 * 1024;
/** The source of replies that came by this route; their ids are made of what identifies them. */
export const REPLY_SOURCE = 'headway/replies';

const replySchema = z.strictObject({
  /** AGREE and REJECT may acknowledge; whatever else is a message on the thread. */
  intent: z.string().min(1).max(64),
  /** Who answers: an orchestrator or a worker that it was sent to. */
  from: z.string().min(1).max(limits.name),
  to: z.array(z.string().min(1).max(limits.name)).max(1_000).default([]),
  text: z.string().max(limits.text).default(''),
});

export interface RepliesRoute {
  readonly accept: Accept;
  readonly findThread: FindThread;
  /** Why nothing can be taken at the moment, or `null`. */
  readonly unready: () => Problem | null;
}

/**
 * `POST /v1/signals/{signal}/replies`: a message on the thread of a signal, as evidence of a work that the signal is
 * about. Whether it acknowledges is for the signaller to judge, by who sent it and with what intent. The header
 * `Idempotency-Key` identifies it, else its content does: the same reply twice is one.
 */
export function mountReplies(app: FastifyInstance, { accept, findThread, unready }: RepliesRoute): void {
  app.post(
    '/v1/signals/:signal/replies',
    { config: { act: 'report' }, bodyLimit: REPLY_BYTES },
    async (request, reply) => {
      const away = unready();
      if (away !== null) return sendProblem(reply, away, { 'retry-after': '1' });
      const { signal } = request.params as { signal: string };
      const body = readBody(replySchema, request.body);
      if (!body.ok) return sendProblem(reply, body.failure);
      const key = readKey(request.headers['idempotency-key']);
      if (!key.ok) return sendProblem(reply, key.failure);
      const { tenant } = request.caller;
      const thread = await findThread(tenant, signal);
      if (!thread.ok)
        return sendProblem(reply, thread.failure, thread.failure.status >= 500 ? { 'retry-after': '1' } : {});
      const { intent, from, to, text } = body.value;
      const id = key.value === null ? digest('reply', signal, intent, from, text) : digest('reply', signal, key.value);
      const event = {
        specversion: '1.0',
        source: REPLY_SOURCE,
        id,
        subject: thread.value,
        type: 'headway.signal.sent',
        data: { signal: id, thread: signal, inReplyTo: signal, intent, from, to, text },
      };
      const [verdict] = await inSpan(
        'ingest.reply',
        { 'headway.tenant': tenant },
        ({ context }) => accept(tenant, [{ ok: true, raw: event, bytes: null, place: '' }], injectTrace({}, context)),
        { parent: request.trace },
      );
      if (verdict === undefined) throw new Error('one event has one verdict');
      if (verdict.verdict === 'refused') {
        const { status, body: refusal } = answerOf([verdict]);
        return reply
          .code(status)
          .type(PROBLEM_TYPE)
          .send(Buffer.from(JSON.stringify(refusal)));
      }
      return reply
        .code(202)
        .send({ signal, work: thread.value, reply: id, verdict: verdict.verdict, position: verdict.position });
    },
  );
}

function readKey(header: string | string[] | undefined): Result<string | null, Problem> {
  if (header === undefined) return ok(null);
  if (typeof header === 'string' && /^[!-~]{1,200}$/.test(header)) return ok(header);
  return refused(
    problem('invalid_parameter', '`Idempotency-Key` has to be 1 to 200 printable ASCII characters without blanks.'),
  );
}

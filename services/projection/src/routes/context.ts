import { formatPosition, type PositionText, type Problem, problem, STREAMS } from '@headway/contracts';
import { ok, type Result } from '@headway/kernel';
import { ARCHIVE_READER, isStoreAway } from '@headway/readmodel';
import { sendProblem } from '@headway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangeWatch } from '../change-watch.ts';
import type { AwaitCoverage, Depth } from '../coverage.ts';
import type { Views } from '../ports.ts';

/** What every reading route works with. */
export interface Reading {
  readonly views: Views;
  readonly watch: ChangeWatch;
  readonly covered: AwaitCoverage;
}

/** The value a handler answers with, or the problem. */
export type Answer = Promise<Result<unknown, Problem>>;

/** Sends what a handler answers; a store that is away is told as such. */
export function answering(handler: (request: FastifyRequest, reply: FastifyReply) => Answer) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      const answer = await handler(request, reply);
      return answer.ok ? reply.send(answer.value) : sendProblem(reply, answer.failure);
    } catch (error) {
      if (!isStoreAway(error)) throw error;
      request.log.warn({ err: error }, 'the store is away');
      return sendProblem(reply, problem('store_unavailable', 'Postgres cannot be reached. Try again in a moment.'), {
        'retry-after': '1',
      });
    }
  };
}

/** Waits until the views cover what `?after=` asks for. */
export async function awaitCover(
  { covered }: Reading,
  request: FastifyRequest,
  what: { readonly work: string | null; readonly depth: Depth; readonly after: string | undefined },
): Promise<Result<null, Problem>> {
  if (what.after === undefined) return ok(null);
  const gone = new AbortController();
  const abort = () => gone.abort();
  const { socket } = request.raw;
  socket.once('close', abort);
  try {
    return await covered({ ...what, tenant: request.caller.tenant, signal: gone.signal });
  } finally {
    // The connection is kept for the client's next request.
    socket.off('close', abort);
  }
}

/** Up to where the views cover the evidence. */
export async function evidencePosition({ views }: Reading): Promise<PositionText> {
  const { generation, sequence } = await views.place(ARCHIVE_READER, STREAMS.evidence);
  return formatPosition({ stream: STREAMS.evidence, generation, sequence });
}

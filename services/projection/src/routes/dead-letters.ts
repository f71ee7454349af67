import {
  type ActRequest,
  actRequestSchema,
  type DeadLetterView,
  formatPosition,
  letterId,
  type Page,
  type Problem,
  parseLetterId,
  problem,
} from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import type { StandingLetter } from '@headway/readmodel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { writeAct } from '../acts.ts';
import type { Ports } from '../ports.ts';
import { type Answer, answering, awaitCover, evidencePosition, type Reading } from './context.ts';
import { parameters, readCursor, readQuery, writeCursor } from './parameters.ts';

/** What the routes by which an operator acts need beside the views. */
export interface Operating extends Reading {
  readonly log: Pick<Ports['log'], 'append'>;
}

const cursor = z.string().max(200);

export function mountDeadLetters(app: FastifyInstance, operating: Operating): void {
  const read = { config: { act: 'read' as const } };
  const operate = { config: { act: 'operate' as const } };
  app.get(
    '/v1/deadletters',
    read,
    answering((request) => list(operating, request)),
  );
  app.get(
    '/v1/deadletters/:letter',
    read,
    answering((request) => show(operating, request)),
  );
  for (const [verb, type] of [
    ['retry', 'headway.dead-letter.retried'],
    ['drop', 'headway.dead-letter.dropped'],
  ] as const)
    app.post(
      `/v1/deadletters/:letter/${verb}`,
      operate,
      answering(async (request, reply) => {
        const body = readAct(request);
        if (!body.ok) return body;
        const letter = await find(operating, request);
        if (!letter.ok) return letter;
        if (letter.value.state !== 'open')
          return refused(
            problem('letter_closed', `${letterId(letter.value)} is ${letter.value.state} already; nothing was done.`),
          );
        const data = { letter: letterId(letter.value) };
        reply.code(202);
        return writeAct(operating.log, request.caller, body.value, { type, data });
      }),
    );
}

/** The body of a request by which an operator acts; else what to change. */
export function readAct(request: FastifyRequest): Result<ActRequest, Problem> {
  const parsed = actRequestSchema.safeParse(request.body ?? {});
  if (parsed.success) return ok(parsed.data);
  const member = String(parsed.error.issues[0]?.path[0] ?? 'why');
  return refused(
    problem(
      'invalid_parameter',
      `\`${member}\`: send a JSON object with \`why\`, one line that says why, and \`as\`, your name, if you like.`,
      `/${member}`,
    ),
  );
}

async function list(operating: Operating, request: FastifyRequest): Answer {
  const query = readQuery(parameters.deadLetters, request.query);
  if (!query.ok) return query;
  const from = readCursor(cursor, query.value.cursor);
  if (!from.ok) return from;
  const covered = await awaitCover(operating, request, { work: null, depth: 'evidence', after: query.value.after });
  if (!covered.ok) return covered;
  const { rows, next } = await operating.views.listLetters({
    tenant: request.caller.tenant,
    state: query.value.state === 'all' ? null : query.value.state,
    after: from.value === null ? null : parseLetterId(from.value),
    limit: query.value.limit,
  });
  const page: Page<DeadLetterView> = {
    items: rows.map(letterView),
    next: next === null ? null : writeCursor(letterId(next)),
    position: await evidencePosition(operating),
  };
  return ok(page);
}

async function show(operating: Operating, request: FastifyRequest): Answer {
  const query = readQuery(parameters.one, request.query);
  if (!query.ok) return query;
  const covered = await awaitCover(operating, request, { work: null, depth: 'evidence', after: query.value.after });
  if (!covered.ok) return covered;
  const found = await find(operating, request);
  return found.ok ? ok(letterView(found.value)) : found;
}

async function find({ views }: Operating, request: FastifyRequest): Promise<Result<StandingLetter, Problem>> {
  const { letter: id } = request.params as { letter: string };
  const place = parseLetterId(id);
  const letter = place === null ? null : await views.findLetter(request.caller.tenant, place);
  return letter === null
    ? refused(problem('letter_not_found', `There is no dead letter with the id ${JSON.stringify(id)}.`))
    : ok(letter);
}

export function letterView(letter: StandingLetter): DeadLetterView {
  return {
    letter: letterId(letter),
    reader: letter.reader,
    position: formatPosition(letter),
    subject: letter.subject,
    work: letter.aggregate.work,
    error: letter.error,
    state: letter.state,
    attempts: letter.attempts,
    waiting: letter.waiting,
    recordedAt: new Date(letter.recordedAt).toISOString(),
    closedAt: letter.closedAt === null ? null : new Date(letter.closedAt).toISOString(),
    closedBy: letter.closedBy,
    why: letter.why,
  };
}

import { formatPosition, limits, type Page, type Problem, problem, STREAMS, type WorkView } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { ARCHIVE_READER, type WorkRow } from '@headway/readmodel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { renderBrief } from '../brief.ts';
import { timelineEntry, workView } from '../views.ts';
import { type Answer, answering, awaitCover, evidencePosition, type Reading } from './context.ts';
import { parameters, readCursor, readQuery, sequence, writeCursor } from './parameters.ts';

const workPlace = z.tuple([z.number().int().min(0).max(100), z.string().max(limits.workId)]);

/** The fleet, each work, what happened to it, and what its agent reads. */
export function mountWorks(app: FastifyInstance, reading: Reading): void {
  const read = { config: { act: 'read' as const } };
  app.get(
    '/v1/works',
    read,
    answering((request) => listWorks(reading, request)),
  );
  app.get(
    '/v1/works/:work',
    read,
    answering((request) => showWork(reading, request)),
  );
  app.get(
    '/v1/works/:work/timeline',
    read,
    answering((request) => listTimeline(reading, request)),
  );
  app.get(
    '/v1/works/:work/brief',
    read,
    answering((request, reply) => showBrief(reading, request, reply)),
  );
}

async function listWorks(reading: Reading, request: FastifyRequest): Answer {
  const query = readQuery(parameters.works, request.query);
  if (!query.ok) return query;
  const from = readCursor(workPlace, query.value.cursor);
  if (!from.ok) return from;
  const covered = await awaitCover(reading, request, { work: null, depth: 'class', after: query.value.after });
  if (!covered.ok) return covered;
  const position = await evidencePosition(reading);
  const { rows, next } = await reading.views.listWorks({
    tenant: request.caller.tenant,
    class: query.value.class ?? null,
    after: from.value === null ? null : { rank: from.value[0], work: from.value[1] },
    limit: query.value.limit,
  });
  const page: Page<WorkView> = {
    items: rows.map(workView),
    next: next === null ? null : writeCursor([next.rank, next.work]),
    position,
  };
  return ok(page);
}

async function showWork(reading: Reading, request: FastifyRequest): Answer {
  const found = await coveredWork(reading, request, 'class');
  return found.ok ? ok(workView(found.value)) : found;
}

async function listTimeline(reading: Reading, request: FastifyRequest): Answer {
  const query = readQuery(parameters.timeline, request.query);
  if (!query.ok) return query;
  const from = readCursor(sequence, query.value.cursor);
  if (!from.ok) return from;
  const found = await coveredWork(reading, request, 'class', parameters.timeline);
  if (!found.ok) return found;
  const position = await evidencePosition(reading);
  const { tenant, work } = found.value;
  const { rows, next } = await reading.views.listTimeline({
    tenant,
    work,
    after: from.value,
    newestFirst: query.value.order === 'desc',
    limit: query.value.limit,
  });
  return ok({ items: rows.map(timelineEntry), next: next === null ? null : writeCursor(next), position });
}

async function showBrief(reading: Reading, request: FastifyRequest, reply: FastifyReply): Answer {
  const found = await coveredWork(reading, request, 'signals');
  if (!found.ok) return found;
  reply.type('text/markdown; charset=utf-8');
  return ok(await briefOf(reading, found.value));
}

/** The brief of a work as it stands. */
export async function briefOf({ views }: Reading, work: WorkRow): Promise<string> {
  const { generation } = await views.place(ARCHIVE_READER, STREAMS.evidence);
  const signal = work.openSignal === null ? null : await views.findSignal(work.tenant, work.openSignal);
  const asOf = formatPosition({ stream: STREAMS.evidence, generation, sequence: work.covered });
  return renderBrief({ work, signal, asOf });
}

/** The work of the address, once the views cover what `?after=` asks for. */
export async function coveredWork(
  reading: Reading,
  request: FastifyRequest,
  depth: 'class' | 'signals',
  takes: typeof parameters.one | typeof parameters.timeline = parameters.one,
): Promise<Result<WorkRow, Problem>> {
  const { work } = request.params as { work: string };
  const query = readQuery(takes, request.query);
  if (!query.ok) return query;
  const covered = await awaitCover(reading, request, { work, depth, after: query.value.after });
  if (!covered.ok) return covered;
  const row = await reading.views.findWork(request.caller.tenant, work);
  return row === null
    ? refused(problem('work_not_found', `No evidence of a work with the id ${JSON.stringify(work)} has been seen.`))
    : ok(row);
}

import { formatPosition, type Problem, type ProjectionView, problem, type RebuildView } from '@headway/contracts';
import { ok, type Result, refused } from '@headway/kernel';
import { ARCHIVE_READER, FLEET, type RebuildRow } from '@headway/readmodel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { writeAct } from '../acts.ts';
import type { Projecting } from '../projection.ts';
import { type Answer, answering, awaitCover } from './context.ts';
import { type Operating, readAct } from './dead-letters.ts';
import { parameters, readQuery } from './parameters.ts';

/** What the routes of the projections need. */
export interface Overseeing extends Operating {
  readonly projecting: Pick<Projecting, 'followers' | 'gaps' | 'rebuilds'>;
  readonly endOf: (stream: string) => Promise<number | null>;
}

export function mountProjections(app: FastifyInstance, overseeing: Overseeing): void {
  app.get(
    '/v1/projections',
    { config: { act: 'read' } },
    answering(async (request) => {
      const query = readQuery(parameters.one, request.query);
      if (!query.ok) return query;
      const covered = await awaitCover(overseeing, request, {
        work: null,
        depth: 'evidence',
        after: query.value.after,
      });
      return covered.ok ? ok({ items: [await viewOf(overseeing)] }) : covered;
    }),
  );
  const operate = { config: { act: 'operate' as const } };
  app.post(
    '/v1/projections/:name/rebuild',
    operate,
    answering((request, reply) => {
      reply.code(202);
      return ask(overseeing, request, 'headway.rebuild.requested');
    }),
  );
  app.post(
    '/v1/projections/:name/rebuild/cancel',
    operate,
    answering((request, reply) => {
      reply.code(202);
      return ask(overseeing, request, 'headway.rebuild.cancelled');
    }),
  );
}

async function ask(
  overseeing: Overseeing,
  request: FastifyRequest,
  type: 'headway.rebuild.requested' | 'headway.rebuild.cancelled',
): Answer {
  const { name } = request.params as { name: string };
  const body = readAct(request);
  if (!body.ok) return body;
  const refusal = await refusalOf(overseeing, name, type === 'headway.rebuild.requested');
  if (!refusal.ok) return refusal;
  return writeAct(overseeing.log, request.caller, body.value, { type, data: { projection: name } });
}

async function refusalOf(
  { projecting: { rebuilds } }: Overseeing,
  name: string,
  begins: boolean,
): Promise<Result<null, Problem>> {
  if ((await rebuilds.generation(name)) === null)
    return refused(
      problem('projection_not_found', `There is no projection ${JSON.stringify(name)}. There is: ${FLEET}.`),
    );
  const newest = await rebuilds.newest(name);
  const underWay = newest?.state === 'requested' || newest?.state === 'running';
  if (begins && underWay)
    return refused(problem('rebuild_under_way', `${name} is being rebuilt. Wait for it, or call it off first.`));
  if (!begins && !underWay) return refused(problem('no_rebuild', `${name} is not being rebuilt.`));
  return ok(null);
}

async function viewOf({ projecting, views, endOf }: Overseeing): Promise<ProjectionView> {
  const readers = await Promise.all(
    projecting.followers.map(async ({ stream, follower }) => {
      const [place, end] = [await views.place(ARCHIVE_READER, stream), await endOf(stream)];
      return {
        stream,
        position: formatPosition({ stream, ...place }),
        lag: end === null ? null : Math.max(0, end - place.sequence),
        heldUp: follower.state().heldUp,
      };
    }),
  );
  const newest = await projecting.rebuilds.newest(FLEET);
  return {
    name: FLEET,
    generation: (await projecting.rebuilds.generation(FLEET)) ?? 0,
    readers,
    gaps: projecting.gaps(),
    rebuild: newest === null ? null : rebuildView(newest),
  };
}

export function rebuildView(row: RebuildRow): RebuildView {
  const { state, done, total, requestedBy, why, error } = row;
  const seconds = row.startedAt === null || row.updatedAt === null ? 0 : (row.updatedAt - row.startedAt) / 1_000;
  const rate = seconds > 0 && done > 0 ? done / seconds : null;
  return {
    state,
    done,
    total,
    rate: rate === null ? null : Math.round(rate),
    etaSeconds: state === 'running' && rate !== null ? Math.ceil((total - done) / rate) : null,
    requestedBy,
    why,
    requestedAt: new Date(row.requestedAt).toISOString(),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
    error,
  };
}

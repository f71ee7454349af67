import { limits, type PositionText, type SignalView, type WorkView } from '@headway/contracts';
import {
  assets,
  contentSecurityPolicy,
  FLEET_ROWS,
  renderDeadLetters,
  renderFleet,
  renderReport,
  renderUnknownWork,
  renderWork,
} from '@headway/dashboard';
import { ok } from '@headway/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { recoverView } from '../recover.ts';
import { signalView, timelineEntry, workView } from '../views.ts';
import { answering, evidencePosition, type Reading } from './context.ts';
import { letterView } from './dead-letters.ts';
import { parameters, readCursor, readQuery } from './parameters.ts';
import { donePlace, reportOf } from './report.ts';
import { briefOf } from './works.ts';

/** Signals of each state that the page shows beside the works. */
const PAGE_SIGNALS = 1_000;
/** Dead letters that their page shows. */
const PAGE_LETTERS = 200;
/** Newest entries of a work's timeline that its page shows. */
const PAGE_ENTRIES = limits.page;

/** The page at `/`, that of each work, and the files they ask for. */
export function mountPages(app: FastifyInstance, reading: Reading): void {
  const read = { config: { act: 'read' as const } };
  app.get(
    '/',
    read,
    answering(async (request, reply) => {
      const { tenant } = request.caller;
      const state = await pageState(reading);
      const [works, signals, answered] = await Promise.all([
        allWorks(reading, tenant),
        openSignals(reading, tenant),
        acknowledgedSignals(reading, tenant),
      ]);
      return html(reply, renderFleet({ works, signals: [...signals, ...answered], tenant, ...state }));
    }),
  );
  app.get(
    '/works/:work',
    read,
    answering(async (request, reply) => {
      const { tenant } = request.caller;
      const { work } = request.params as { work: string };
      const state = await pageState(reading);
      const row = await reading.views.findWork(tenant, work);
      if (row === null) return html(reply.code(404), renderUnknownWork({ work, tenant, ...state }));
      const [timeline, signals, answered, briefMarkdown, concerning] = await Promise.all([
        reading.views.listTimeline({ tenant, work, after: null, newestFirst: true, limit: PAGE_ENTRIES }),
        openSignals(reading, tenant),
        newestSignals(reading, { tenant, state: 'acknowledged', work }, 1),
        briefOf(reading, row),
        row.openSignal === null ? null : reading.views.findSignal(tenant, row.openSignal),
      ]);
      return html(
        reply,
        renderWork({
          work: workView(row),
          timeline: timeline.rows.map(timelineEntry),
          signals: [...signals.filter(({ works }) => works.includes(row.work)), ...answered],
          briefMarkdown,
          recover: recoverView({ work: row, signal: concerning, position: state.position }),
          tenant,
          ...state,
        }),
      );
    }),
  );
  app.get(
    '/report',
    read,
    answering(async (request, reply) => {
      const query = readQuery(parameters.report, request.query);
      if (!query.ok) return query;
      const from = readCursor(donePlace, query.value.cursor);
      if (!from.ok) return from;
      const { tenant } = request.caller;
      const { change, now } = await pageState(reading);
      const place = from.value === null ? null : { to: from.value[0], doneAt: from.value[1], work: from.value[2] };
      const report = await reportOf(reading, tenant, { days: query.value.days, limit: query.value.limit, place });
      return html(reply, renderReport({ report, tenant, change, now }));
    }),
  );
  app.get(
    '/deadletters',
    read,
    answering(async (request, reply) => {
      const { tenant } = request.caller;
      const state = await pageState(reading);
      const { rows, next } = await reading.views.listLetters({
        tenant,
        state: 'open',
        after: null,
        limit: PAGE_LETTERS,
      });
      return html(reply, renderDeadLetters({ letters: rows.map(letterView), more: next !== null, tenant, ...state }));
    }),
  );
  for (const [path, { contentType, body, cacheControl }] of assets)
    app.get(path, { config: { act: 'open' } }, async (_request, reply) =>
      reply.type(contentType).header('cache-control', cacheControl).send(body),
    );
}

/** Taken before the rows, so that the page, which follows the stream from there, never misses a change. */
async function pageState(reading: Reading): Promise<{ change: number; position: PositionText; now: number }> {
  const change = await reading.views.newestChange();
  return { change, position: await evidencePosition(reading), now: Date.now() };
}

/** Up to one more than the page shows, so that it can say that there are more. */
async function allWorks({ views }: Reading, tenant: string): Promise<WorkView[]> {
  const { rows } = await views.listWorks({ tenant, class: null, after: null, limit: FLEET_ROWS + 1 });
  return rows.map(workView);
}

const openSignals = (reading: Reading, tenant: string) => newestSignals(reading, { tenant, state: 'open' });

const acknowledgedSignals = (reading: Reading, tenant: string) =>
  newestSignals(reading, { tenant, state: 'acknowledged' });

async function newestSignals(
  { views }: Reading,
  of: { readonly tenant: string; readonly state: SignalView['state']; readonly work?: string },
  limit = PAGE_SIGNALS,
): Promise<SignalView[]> {
  const { rows } = await views.listSignals({ ...of, after: null, limit });
  return rows.map(signalView);
}

function html(reply: FastifyReply, page: string) {
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  return ok(page);
}

import { type FleetReport, limits } from '@headway/contracts';
import { ok } from '@headway/kernel';
import type { DonePlace } from '@headway/readmodel';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { fleetReport } from '../report.ts';
import { answering, awaitCover, evidencePosition, type Reading } from './context.ts';
import { parameters, readCursor, readQuery, sequence, writeCursor } from './parameters.ts';

const DAY = 24 * 60 * 60 * 1_000;
/** The window's end: a place of the cursor, so that every page is of the same time. */
export const donePlace = z.tuple([sequence, sequence, z.string().max(limits.workId)]);

/** `GET /v1/report`: classes, signals, acknowledgement times, efficiency per done work, cost, agents live at once. */
export function mountReport(app: FastifyInstance, reading: Reading): void {
  app.get(
    '/v1/report',
    { config: { act: 'read' } },
    answering(async (request) => {
      const query = readQuery(parameters.report, request.query);
      if (!query.ok) return query;
      const from = readCursor(donePlace, query.value.cursor);
      if (!from.ok) return from;
      const covered = await awaitCover(reading, request, { work: null, depth: 'signals', after: query.value.after });
      if (!covered.ok) return covered;
      const { days, limit } = query.value;
      const place = from.value === null ? null : { to: from.value[0], doneAt: from.value[1], work: from.value[2] };
      return ok(await reportOf(reading, request.caller.tenant, { days, limit, place }));
    }),
  );
}

export interface ReportQuery {
  readonly days: number;
  /** Done works on one page. */
  readonly limit: number;
  readonly place: (DonePlace & { readonly to: number }) | null;
}

export async function reportOf(
  reading: Reading,
  tenant: string,
  { days, limit, place }: ReportQuery,
): Promise<FleetReport> {
  const position = await evidencePosition(reading);
  // One millisecond more: what was recorded in this one belongs to the report.
  const to = place?.to ?? Date.now() + 1;
  const window = { tenant, from: to - days * DAY, to };
  const { views } = reading;
  const [counts, done, spans] = await Promise.all([
    views.reportCounts(window),
    views.listDone({ ...window, after: place, limit }),
    views.usageSpans(window),
  ]);
  const next = done.next === null ? null : writeCursor([to, done.next.doneAt, done.next.work]);
  return fleetReport({ position, days, from: window.from, to, counts, done: done.rows, next, spans });
}

import { limits, type Page, problem, type SignalView } from '@headway/contracts';
import { ok, refused } from '@headway/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { signalView } from '../views.ts';
import { type Answer, answering, awaitCover, evidencePosition, type Reading } from './context.ts';
import { parameters, readCursor, readQuery, sequence, writeCursor } from './parameters.ts';

const signalPlace = z.tuple([sequence, z.string().max(limits.name)]);

export function mountSignals(app: FastifyInstance, reading: Reading): void {
  const read = { config: { act: 'read' as const } };
  app.get(
    '/v1/signals',
    read,
    answering((request) => listSignals(reading, request)),
  );
  app.get(
    '/v1/signals/:signal',
    read,
    answering((request) => showSignal(reading, request)),
  );
}

async function listSignals(reading: Reading, request: FastifyRequest): Answer {
  const query = readQuery(parameters.signals, request.query);
  if (!query.ok) return query;
  const from = readCursor(signalPlace, query.value.cursor);
  if (!from.ok) return from;
  const covered = await awaitCover(reading, request, { work: null, depth: 'signals', after: query.value.after });
  if (!covered.ok) return covered;
  const position = await evidencePosition(reading);
  const { rows, next } = await reading.views.listSignals({
    tenant: request.caller.tenant,
    state: query.value.state ?? null,
    kind: query.value.kind,
    work: query.value.work,
    to: query.value.to,
    after: from.value === null ? null : { raisedSequence: from.value[0], signal: from.value[1] },
    limit: query.value.limit,
  });
  const page: Page<SignalView> = {
    items: rows.map(signalView),
    next: next === null ? null : writeCursor([next.raisedSequence, next.signal]),
    position,
  };
  return ok(page);
}

async function showSignal(reading: Reading, request: FastifyRequest): Answer {
  const { signal } = request.params as { signal: string };
  const query = readQuery(parameters.one, request.query);
  if (!query.ok) return query;
  const covered = await awaitCover(reading, request, { work: null, depth: 'signals', after: query.value.after });
  if (!covered.ok) return covered;
  const row = await reading.views.findSignal(request.caller.tenant, signal);
  return row === null
    ? refused(problem('signal_not_found', `There is no signal with the id ${JSON.stringify(signal)}.`))
    : ok(signalView(row));
}

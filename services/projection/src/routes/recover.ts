import { formatPosition, STREAMS } from '@headway/contracts';
import { ok } from '@headway/kernel';
import { ARCHIVE_READER } from '@headway/readmodel';
import type { FastifyInstance } from 'fastify';
import { recoverView } from '../recover.ts';
import { answering, type Reading } from './context.ts';
import { coveredWork } from './works.ts';

/** `GET /v1/works/{work}/recover`: proposals to copy. Nothing is done by asking for them. */
export function mountRecover(app: FastifyInstance, reading: Reading): void {
  app.get(
    '/v1/works/:work/recover',
    { config: { act: 'read' } },
    answering(async (request) => {
      const found = await coveredWork(reading, request, 'signals');
      if (!found.ok) return found;
      const work = found.value;
      const { generation } = await reading.views.place(ARCHIVE_READER, STREAMS.evidence);
      const signal = work.openSignal === null ? null : await reading.views.findSignal(work.tenant, work.openSignal);
      const position = formatPosition({ stream: STREAMS.evidence, generation, sequence: work.covered });
      return ok(recoverView({ work, signal, position }));
    }),
  );
}

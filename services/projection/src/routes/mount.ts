import type { FastifyInstance } from 'fastify';
import type { Reading } from './context.ts';
import { mountPages } from './page.ts';
import { mountSignals } from './signals.ts';
import { mountStream } from './stream.ts';
import { mountWorks } from './works.ts';

/** Every route of this service. */
export function mountReading(app: FastifyInstance, reading: Reading): void {
  mountWorks(app, reading);
  mountSignals(app, reading);
  mountStream(app, reading);
  mountPages(app, reading);
}

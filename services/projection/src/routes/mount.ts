import type { FastifyInstance } from 'fastify';
import type { Reading } from './context.ts';
import { mountPages } from './page.ts';
import { mountPolicy } from './policy.ts';
import { mountRecover } from './recover.ts';
import { mountReport } from './report.ts';
import { mountSignals } from './signals.ts';
import { mountStream } from './stream.ts';
import { mountWorks } from './works.ts';

/** Every route of this service. */
export function mountReading(app: FastifyInstance, reading: Reading): void {
  mountWorks(app, reading);
  mountSignals(app, reading);
  mountRecover(app, reading);
  mountReport(app, reading);
  mountPolicy(app, reading);
  mountStream(app, reading);
  mountPages(app, reading);
}

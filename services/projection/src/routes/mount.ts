import type { FastifyInstance } from 'fastify';
import type { Reading } from './context.ts';
import { mountDeadLetters } from './dead-letters.ts';
import { mountPages } from './page.ts';
import { mountPolicy } from './policy.ts';
import { mountProjections, type Overseeing } from './projections.ts';
import { mountRecover } from './recover.ts';
import { mountReport } from './report.ts';
import { mountSignals } from './signals.ts';
import { mountStream } from './stream.ts';
import { mountWorks } from './works.ts';

/** The routes by which operators look after the readers. */
export function mountOperating(app: FastifyInstance, overseeing: Overseeing): void {
  mountDeadLetters(app, overseeing);
  mountProjections(app, overseeing);
}

/** Every route that only reads. */
export function mountReading(app: FastifyInstance, reading: Reading): void {
  mountWorks(app, reading);
  mountSignals(app, reading);
  mountRecover(app, reading);
  mountReport(app, reading);
  mountPolicy(app, reading);
  mountStream(app, reading);
  mountPages(app, reading);
}

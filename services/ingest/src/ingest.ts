import type { AccessSettings } from '@headway/access';
import { type Problem, problem } from '@headway/contracts';
import type { EventLog } from '@headway/eventlog';
import type { Clock } from '@headway/kernel';
import { type Checks, createHttp, type Logger, pause } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import { createAccept } from './accept.ts';
import { createFindThread } from './find-thread.ts';
import { createDoubts } from './identity/doubts.ts';
import { type Following, followEvidence } from './identity/follow.ts';
import { createInFlight } from './identity/in-flight.ts';
import { createRecentIndex } from './identity/known.ts';
import type { IdentityArchive, ReadAttempt, SignalDirectory } from './ports.ts';
import { mountEvents } from './routes/events.ts';
import { mountPolicy } from './routes/policy.ts';
import { mountReplies } from './routes/replies.ts';

export interface IngestOptions {
  readonly log: EventLog;
  readonly archive: IdentityArchive;
  readonly signals: SignalDirectory;
  readonly readAttempt: ReadAttempt;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: AccessSettings;
  readonly publicHosts: readonly string[];
  readonly indexEntries?: number;
  readonly signal: AbortSignal;
  readonly checks?: Checks;
}

export interface Ingest {
  readonly app: FastifyInstance;
  /** Settles with the reason when ingest cannot go on; `null` = it was aborted. */
  readonly ended: Promise<string | null>;
}

/** Ingest over its ports: takes nothing until every identity in the log is known. */
export async function createIngest(options: IngestOptions): Promise<Ingest> {
  const { log, archive, clock, logger, signal } = options;
  const recent = createRecentIndex(options.indexEntries);
  let following: Following | null = null;
  const doubts = createDoubts({
    log,
    recent,
    clock,
    caughtUp: async () => (following === null ? false : following.caughtUp()),
  });
  following = await followEvidence({ log, archive, recent, logger, signal, onPoll: () => doubts.settleOld() });
  const { ready, ended } = following;
  const accept = createAccept({
    log,
    archive,
    recent,
    inFlight: createInFlight(),
    doubts,
    readAttempt: options.readAttempt,
    logger,
  });
  const unready = (): Problem | null => {
    const identities = ready();
    if (!identities.ready)
      return problem('store_unavailable', `Nothing can be taken at the moment: ${identities.reason}. Send it again.`);
    return doubts.full ? problem('log_unavailable', 'The log does not answer. Send it again later.') : null;
  };
  const app = createHttp({
    service: 'ingest',
    logger,
    access: options.access,
    publicHosts: options.publicHosts,
    checks: { identities: ready, ...options.checks },
  });
  mountEvents(app, { accept, unready });
  const findThread = createFindThread({ log, signals: options.signals, pause, logger, signal });
  mountReplies(app, { accept, findThread, unready });
  mountPolicy(app, { log, clock });
  return { app, ended };
}

import type { AccessSettings } from '@headway/access';
import { type Problem, problem } from '@headway/contracts';
import type { EventLog } from '@headway/eventlog';
import type { Clock } from '@headway/kernel';
import { type Checks, createHttp, type Logger, type Metrics, pause } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import { createAccept } from './accept.ts';
import { createFindThread } from './find-thread.ts';
import { createArchiveLag } from './identity/archive-lag.ts';
import { askTogether } from './identity/asked-together.ts';
import { createDoubts } from './identity/doubts.ts';
import { followEvidence } from './identity/follow.ts';
import { createHeads, createTurns } from './identity/heads.ts';
import { createInFlight } from './identity/in-flight.ts';
import { createRecentIndex } from './identity/known.ts';
import type { BusLevel, IdentityArchive, ReadAttempt, SignalDirectory } from './ports.ts';
import { mountEvents } from './routes/events.ts';
import { mountPolicy } from './routes/policy.ts';
import { mountReplies } from './routes/replies.ts';

export interface IngestOptions {
  readonly log: EventLog;
  readonly archive: IdentityArchive;
  readonly level: BusLevel;
  readonly signals: SignalDirectory;
  readonly readAttempt: ReadAttempt;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: AccessSettings;
  readonly publicHosts: readonly string[];
  readonly indexEntries?: number;
  readonly signal: AbortSignal;
  readonly checks?: Checks;
  readonly metrics?: Metrics;
}

export interface Ingest {
  readonly app: FastifyInstance;
  /** Settles when it was aborted. */
  readonly ended: Promise<void>;
}

/** Ingest over its ports: takes nothing until every identity in the log is known. */
export function createIngest(options: IngestOptions): Ingest {
  const { log, archive, level, clock, logger, signal } = options;
  const recent = createRecentIndex(options.indexEntries);
  const heads = createHeads();
  const lag = createArchiveLag(clock);
  const doubts = createDoubts({ log, recent, clock, caughtUp: () => following.caughtUp() });
  const following = followEvidence({
    log,
    archive,
    level,
    recent,
    heads,
    lag,
    logger,
    signal,
    onRestart: () => {
      for (const memory of [recent, heads, lag, doubts]) memory.clear();
    },
    onPoll: () => doubts.settleOld(),
  });
  const accept = createAccept({
    log,
    archive: { ...archive, lookup: askTogether((keys) => archive.lookup(keys)) },
    recent,
    heads,
    turns: createTurns(),
    inFlight: createInFlight(),
    doubts,
    readUpTo: following.readUpTo,
    readAttempt: options.readAttempt,
    logger,
  });
  const unready = (): Problem | null =>
    following.unready() ??
    (doubts.full ? problem('log_unavailable', 'The log does not answer. Send it again later.') : null);
  const app = createHttp({
    service: 'ingest',
    logger,
    access: options.access,
    publicHosts: options.publicHosts,
    checks: { identities: following.ready, ...options.checks },
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  });
  mountEvents(app, { accept, unready });
  const findThread = createFindThread({ log, signals: options.signals, pause, logger, signal });
  mountReplies(app, { accept, findThread, unready });
  mountPolicy(app, { log, clock });
  return { app, ended: following.ended };
}

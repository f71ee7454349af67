import type { AccessSettings } from '@headway/access';
import type { Claims } from '@headway/claims';
import { type Problem, problem } from '@headway/contracts';
import type { Adapter } from '@headway/effects';
import type { EventLog } from '@headway/eventlog';
import { type Checks, createHttp, type Logger, type Pause } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import type { Failpoints } from './failpoints.ts';
import type { Journal } from './ports.ts';
import { createReconciler } from './reconciler.ts';
import { startRelay } from './relay.ts';
import { recoverFromOlderCopy } from './restored.ts';
import { mountAuthorities } from './routes/authorities.ts';
import { mountClaims } from './routes/claims.ts';
import { mountEffects } from './routes/effects.ts';
import { createWorker } from './worker.ts';

/** What is due is looked for this often though nobody said that there is something. */
export const DUE_MS = 1_000;
const SWEPT_AT_ONCE = 200;
const LOOKS_AT_ONCE = 16;
const JUDGED_AT_ONCE = 500;

export interface ExecutorOptions {
  readonly journal: Journal;
  readonly claims: Claims;
  readonly log: EventLog;
  readonly adapters: readonly Adapter[];
  readonly holder: string;
  readonly access: AccessSettings;
  readonly publicHosts: readonly string[];
  readonly checks?: Checks;
  readonly logger: Logger;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly slots?: number;
  readonly marginMs?: number;
  /** How long after its deadline a STARTED operation is left alone: answers that are just being kept. */
  readonly graceMs?: number;
  readonly failpoints: Failpoints;
}

export interface Executor {
  readonly app: FastifyInstance;
  /** Settles with the reason when the executor cannot go on; `null` = it was aborted and nothing is under way. */
  readonly ended: Promise<string | null>;
}

/** The one door for effects: starts nothing before it knows that its database is not an older copy of itself. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { journal, log, logger, signal, holder, failpoints } = options;
  const adapters = new Map(options.adapters.map((adapter) => [adapter.kind, adapter]));
  const phase = { ready: false, reason: 'the database is compared with the log' };
  const relay = startRelay({ outbox: journal.outbox, log, failpoints, logger, pause: options.pause, signal });
  const onChange = () => relay.nudge();
  const worker = createWorker({
    journal,
    adapters,
    holder,
    failpoints,
    logger,
    pause: options.pause,
    signal,
    onChange,
    ...(options.slots === undefined ? {} : { slots: options.slots }),
    ...(options.marginMs === undefined ? {} : { marginMs: options.marginMs }),
  });
  const reconcile = createReconciler({ journal, adapters, holder, failpoints, logger, onChange });
  const unready = (): Problem | null =>
    phase.ready ? null : problem('store_unavailable', `Nothing can be asked for yet: ${phase.reason}. Try again.`);

  async function duties(): Promise<void> {
    const swept = await journal.sweep(options.graceMs ?? 0, SWEPT_AT_ONCE);
    const admitted = await journal.judgeWaiting(JUDGED_AT_ONCE);
    if (swept + admitted > 0) onChange();
    worker.offer(await journal.due(worker.room));
    const looks = await journal.dueLooks(LOOKS_AT_ONCE);
    await Promise.all(looks.map((operation) => reconcile(operation)));
    if (looks.length > 0) worker.offer(await journal.due(worker.room));
  }

  async function run(): Promise<string | null> {
    while (!signal.aborted && !phase.ready) {
      try {
        const { behind, marked } = await recoverFromOlderCopy(journal, log, logger, signal);
        if (behind > 0) logger.warn({ behind, marked }, 'taken over from the log after a restore');
        phase.ready = true;
      } catch (error) {
        phase.reason = error instanceof Error ? error.message : String(error);
        logger.warn({ err: error }, 'the database could not be compared with the log yet');
        await options.pause(DUE_MS, signal);
      }
    }
    while (!signal.aborted) {
      try {
        await duties();
      } catch (error) {
        logger.warn({ err: error }, 'the journal could not be looked through; it is tried again');
      }
      await options.pause(DUE_MS, signal);
    }
    await worker.idle();
    await relay.ended;
    return null;
  }

  const app = createHttp({
    service: 'executor',
    logger,
    access: options.access,
    publicHosts: options.publicHosts,
    checks: {
      journal: () => (phase.ready ? { ready: true } : { ready: false, reason: phase.reason }),
      ...options.checks,
    },
  });
  mountEffects(app, {
    journal,
    adapters,
    reconcile,
    offer: (work) => phase.ready && worker.offer(work),
    onChange,
    failpoints,
    unready,
  });
  mountAuthorities(app, { journal, onChange, failpoints });
  mountClaims(app, { claims: options.claims, log, logger, unready });
  return { app, ended: run() };
}

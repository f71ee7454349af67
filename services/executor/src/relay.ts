import { type EffectRecord, STREAMS, subjects } from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import { backoffDelay, defaultBackoff, type Logger, type Pause } from '@headway/runtime';
import type { Failpoints } from './failpoints.ts';
import type { Outbox, Unpublished } from './ports.ts';

/** Records taken from the outbox at once. */
const BATCH = 512;
/** What comes within this time goes out together. */
const TOGETHER_MS = 20;
/** The outbox is looked at this often though nobody said that there is something. */
const LOOK_MS = 1_000;

export interface RelayOptions {
  readonly outbox: Outbox;
  readonly log: Pick<EventLog, 'append' | 'last'>;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

export interface Relay {
  nudge(): void;
  readonly state: { readonly published: number; readonly lastError: string | null };
  readonly ended: Promise<void>;
}

type Mark = { readonly operation: string; readonly version: number; readonly sequence: number };

/**
 * Publishes the outbox: version n of an operation only after version n-1, by the expected sequence of its subject. A record
 * that was published and not marked goes out once more with the same id and is recognised. Several relays do no harm.
 */
export function startRelay(options: RelayOptions): Relay {
  const { outbox, failpoints, logger, signal } = options;
  const state = { published: 0, lastError: null as string | null };
  let wake: (() => void) | null = null;
  let nudged = false;

  async function round(): Promise<number> {
    const rows = await outbox.unpublished(BATCH);
    if (rows.length === 0) return 0;
    if (failpoints !== null) await failpoints('c12');
    const chains = Map.groupBy(rows, ({ record }) => record.operation);
    const marks = await Promise.all([...chains.values()].map((chain) => publishChain(chain, options)));
    if (failpoints !== null) await failpoints('c13');
    const done = marks.flatMap((mark) => (mark === null ? [] : [mark]));
    if (done.length > 0) await outbox.published(done);
    if (done.length < chains.size)
      throw new Error(`the log took the records of ${done.length} of ${chains.size} operations`);
    state.published += rows.length;
    return rows.length;
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        nudged = false;
        const moved = await round();
        failures = 0;
        state.lastError = null;
        if (moved === 0 && !nudged) await sleep();
        else if (moved < BATCH) await options.pause(TOGETHER_MS, signal);
      } catch (error) {
        failures += 1;
        state.lastError = error instanceof Error ? error.message : String(error);
        logger.warn({ err: error }, 'the outbox could not be published yet');
        await options.pause(backoffDelay(failures, defaultBackoff, Math.random()), signal);
      }
    }
  }

  const sleep = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
    }).finally(() => {
      if (wake !== null) signal.removeEventListener('abort', wake);
      wake = null;
    });

  return {
    nudge: () => {
      nudged = true;
      wake?.();
    },
    state,
    ended: run(),
  };
}

/** Publishes what waits of one operation; `null` = nothing of it could be. */
async function publishChain(chain: readonly Unpublished[], options: RelayOptions): Promise<Mark | null> {
  const { log, logger } = options;
  let mark: Mark | null = null;
  let follows = chain[0]?.follows ?? 0;
  for (const { tenant, record } of chain) {
    const { operation, version } = record;
    const message = {
      subject: subjects.effect(tenant, operation),
      payload: Buffer.from(JSON.stringify(record), 'utf8'),
      messageId: `effect:${operation}:${version}`,
    };
    const outcome = await log.append({ ...message, expectedLastSequence: follows });
    if (outcome.outcome === 'unavailable') return mark;
    if (outcome.outcome === 'conflict') {
      logger.warn({ operation, version, reason: outcome.reason }, 'the log has another end of this history');
      return (await settleConflict(tenant, record, options)) ?? mark;
    }
    follows = outcome.position.sequence;
    mark = { operation, version, sequence: follows };
  }
  return mark;
}

/** The log ends elsewhere than the outbox knows: it was marked too late, or the log lost its end or was made anew. */
async function settleConflict(tenant: string, record: EffectRecord, options: RelayOptions): Promise<Mark | null> {
  const { log, outbox, logger } = options;
  const { operation, version } = record;
  const last = await log.last(STREAMS.effects, subjects.effect(tenant, operation));
  const newest = last === null ? null : recordOf(last);
  if (last === null || newest === null) {
    await outbox.publishAgain(operation, 0, last?.sequence ?? 0);
    return null;
  }
  if (newest.version >= version) return { operation, version: newest.version, sequence: last.sequence };
  logger.warn({ operation, kept: newest.version }, 'the log is published to again from what it kept');
  await outbox.publishAgain(operation, newest.version, last.sequence);
  return null;
}

/** The record in a message of EFFECTS, or `null` where it is none. */
export function recordOf(message: Pick<LogMessage, 'payload'>): EffectRecord | null {
  try {
    const record = JSON.parse(Buffer.from(message.payload).toString('utf8')) as EffectRecord;
    return record.v === 1 && typeof record.entry === 'string' && Number.isInteger(record.version) ? record : null;
  } catch {
    return null;
  }
}

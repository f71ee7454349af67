import { effectLimits } from '@headway/contracts';
import type { Adapter, Attempt, SendAnswer } from '@headway/effects';
import { backoffDelay, defaultBackoff, type Logger, type Pause } from '@headway/runtime';
import type { Failpoints } from './failpoints.ts';
import { microBatch } from './micro-batch.ts';
import type { Journal, Settlement, Taken, Work } from './ports.ts';

/** Operations under way at once in one process. */
export const SLOTS = 32;
/** Operations in one transaction. */
const BATCH = 64;
/** Operations that wait in memory for a slot; what is beyond is found again in the journal. */
const QUEUED = 1_000;
/** A lease outlives its attempt by this much: the time in which the answer is to be kept. */
export const LEASE_MARGIN_MS = 10_000;

export interface WorkerOptions {
  readonly journal: Journal;
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** Names this process, as the holder of its claims. */
  readonly holder: string;
  readonly slots?: number;
  readonly marginMs?: number;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  /** Called when something new stands in the outbox. */
  readonly onChange: () => void;
}

export interface Worker {
  /** Offers operations; those that are under way already are left out. */
  offer(work: readonly Work[]): void;
  /** Takes one operation, sends it and keeps the answer. What cannot be started now is left as it is. */
  perform(work: Work): Promise<void>;
  /** Room for more. */
  readonly room: number;
  /** Attempts that were not sent since their time was over before they could be: a process that was paused. */
  readonly late: number;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Starts operations, sends them and keeps the answers (design 4.2). An attempt is sent once, within its time, or not at all. */
export function createWorker(options: WorkerOptions): Worker {
  const { journal, adapters, holder, failpoints, logger, signal, onChange } = options;
  const slots = options.slots ?? SLOTS;
  const marginMs = options.marginMs ?? LEASE_MARGIN_MS;
  const queue: Work[] = [];
  const known = new Set<string>();
  const idlers: (() => void)[] = [];
  let busy = 0;
  let late = 0;

  const take = microBatch<Work, Taken>(BATCH, async (batch) => {
    const asked = journal.take(
      batch.map(({ operation }) => operation),
      holder,
      marginMs,
    );
    if (failpoints !== null) await failpoints('c06');
    const taken = new Map((await asked).map((answer) => [answer.operation, answer]));
    return batch.map(({ operation }) => taken.get(operation) ?? { operation, outcome: 'gone', epoch: 0, attempt: 0 });
  });
  const settle = microBatch<Settlement, unknown>(BATCH, async (batch) => {
    const kept = journal.settle(batch);
    if (failpoints !== null) await failpoints('c11');
    return kept;
  });

  /** Raises the target's fence between the two steps, where the target has one. */
  async function claimAndStart(work: Work, adapter: Adapter, plan: unknown): Promise<Taken> {
    const gone: Taken = { operation: work.operation, outcome: 'busy', epoch: 0, attempt: 0 };
    const epoch = await journal.claim(work.operation, holder, marginMs);
    if (epoch === null) return gone;
    if (failpoints !== null) await failpoints('c04');
    await adapter.raiseFence?.(plan, epoch, AbortSignal.timeout(adapter.timeoutMs));
    if (failpoints !== null) await failpoints('c05');
    return journal.startClaimed(work.operation, epoch, holder);
  }

  async function perform(work: Work): Promise<void> {
    const adapter = adapters.get(work.kind);
    const prepared = adapter?.prepare({
      target: work.target,
      inputs: JSON.parse(work.inputs) as Record<string, unknown>,
    });
    if (adapter === undefined || prepared === undefined || !prepared.ok) {
      logger.warn({ operation: work.operation, kind: work.kind }, 'no adapter takes this operation here; it waits');
      return;
    }
    const { plan } = prepared.value;
    const begun = performance.now();
    const taken = await (adapter.raiseFence === undefined ? take(work) : claimAndStart(work, adapter, plan));
    if (taken.outcome !== 'started') return;
    onChange();
    if (failpoints !== null) await failpoints('c07');
    // Counted from before the start was asked for, by a clock that goes on while the process is stopped: by the store's clock
    // the deadline is later.
    const leftMs = adapter.timeoutMs - (performance.now() - begun);
    const answer = leftMs > 0 ? await send(adapter, work, taken, plan, leftMs) : overdue();
    if (failpoints !== null) await failpoints('c10');
    await keep({ operation: work.operation, epoch: taken.epoch, answer });
    onChange();
  }

  function overdue(): SendAnswer {
    late += 1;
    return { answer: 'uncertain', reason: 'the time was over before it could be sent' };
  }

  async function send(adapter: Adapter, work: Work, taken: Taken, plan: unknown, leftMs: number): Promise<SendAnswer> {
    const attempt: Attempt<unknown> = {
      operation: work.operation,
      tenant: work.tenant,
      plan,
      epoch: taken.epoch,
      attempt: taken.attempt,
      signal: AbortSignal.timeout(Math.ceil(leftMs)),
    };
    const sending = adapter.send(attempt).catch((error: unknown): SendAnswer => {
      logger.error({ err: error, operation: work.operation }, 'an adapter broke');
      return { answer: 'uncertain', reason: 'the adapter broke' };
    });
    if (failpoints !== null) {
      await failpoints('c08');
      await failpoints('c09');
    }
    return keepable(await sending);
  }

  /** Tries until it is kept: the answer is known here alone. A later one than the deadline is kept as evidence, or settles. */
  async function keep(settlement: Settlement): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        await settle(settlement);
        return;
      } catch (error) {
        logger.warn({ err: error, operation: settlement.operation }, 'an answer could not be kept yet');
        if (signal.aborted && failures > 1) return;
        await options.pause(backoffDelay(failures, defaultBackoff, Math.random()), signal);
      }
    }
  }

  function pump(): void {
    while (busy < slots && queue.length > 0 && !signal.aborted) {
      const work = queue.shift() as Work;
      busy += 1;
      void perform(work)
        .catch((error: unknown) =>
          logger.warn({ err: error, operation: work.operation }, 'a start could not be asked for'),
        )
        .finally(() => {
          busy -= 1;
          known.delete(work.operation);
          pump();
          if (busy === 0) for (const wake of idlers.splice(0)) wake();
        });
    }
  }

  return {
    offer(work) {
      for (const one of work) {
        if (known.has(one.operation) || queue.length >= QUEUED) continue;
        known.add(one.operation);
        queue.push(one);
      }
      pump();
    },
    perform,
    get room() {
      return QUEUED - queue.length;
    },
    get late() {
      return late;
    },
    idle: () => (busy === 0 ? Promise.resolve() : new Promise((wake) => idlers.push(wake))),
  };
}

/** An answer as the journal can keep it: a result that is no JSON, or too large, leaves it open what happened. */
function keepable(answer: SendAnswer): SendAnswer {
  if (answer.answer !== 'succeeded') return answer;
  const text = JSON.stringify(answer.result);
  if (text === undefined || text.includes('\\u0000'))
    return { answer: 'uncertain', reason: 'the answer of the target cannot be kept as JSON' };
  if (Buffer.byteLength(text) > effectLimits.resultBytes)
    return { answer: 'uncertain', reason: `the answer of the target is above ${effectLimits.resultBytes} bytes` };
  return answer;
}

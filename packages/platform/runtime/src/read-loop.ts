import type { StreamName } from '@headway/contracts';
import { type EventLog, type ReadBatch, StreamRecreated } from '@headway/eventlog';
import { type Backoff, backoffDelay, defaultBackoff, type Pause, pause } from './backoff.ts';
import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';

/** What the handler made of a batch. `retry` gives it the same batch again; `stop` ends the loop before it. */
export type Handled =
  | { readonly answer: 'ok' }
  | { readonly answer: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly answer: 'stop'; readonly reason: string };

export const handled = {
  ok: { answer: 'ok' } as Handled,
  retry: (reason: string, afterMs?: number): Handled => ({
    answer: 'retry',
    reason,
    ...(afterMs === undefined ? {} : { afterMs }),
  }),
  stop: (reason: string): Handled => ({ answer: 'stop', reason }),
} as const;

export interface ReadLoopOptions {
  /** For log lines and readiness. */
  readonly name: string;
  readonly log: Pick<EventLog, 'read' | 'describe'>;
  readonly stream: StreamName;
  readonly filters: readonly string[];
  /** Begin after this sequence; 0 = from the beginning. */
  readonly after: number;
  /** At most so many messages in one call of the handler. */
  readonly batch?: number;
  /**
   * Handles one batch, which is empty where the reader caught up without anything new. It has to bear a batch it has
   * seen before: after a retry, and after a restart of the process. A thrown error counts as a retry.
   */
  readonly handle: (batch: ReadBatch) => Promise<Handled> | Handled;
  readonly signal: AbortSignal;
  readonly logger?: Logger;
  readonly backoff?: Backoff;
  /** A number in [0, 1) for jitter. */
  readonly random?: () => number;
  readonly pause?: Pause;
}

/** How the reader is doing, for readiness and metrics. */
export interface ReadLoopState {
  /** The last sequence that was handled; everything before it under the filters was handled too. */
  readonly position: number;
  /** There was nothing more to read when the last batch was handled. */
  readonly caughtUp: boolean;
  /** Why the reader is not getting on right now; `null` = it is. */
  readonly lastError: string | null;
  readonly batches: number;
  readonly messages: number;
  readonly retries: number;
}

export type ReadLoopEnd =
  | { readonly ended: 'aborted' }
  | { readonly ended: 'stopped'; readonly reason: string }
  /** The stream is not the one that was read any more: positions in it mean nothing now. */
  | { readonly ended: 'recreated'; readonly reason: string };

export interface ReadLoop {
  readonly name: string;
  state(): ReadLoopState;
  /** Messages of the stream behind its end, counted over all its subjects: 0 when caught up. Asks the log. */
  lag(): Promise<number>;
  /** Settles when the loop has ended; never rejects. */
  readonly ended: Promise<ReadLoopEnd>;
}

export const READ_BATCH = 256;

/**
 * The loop of everything that folds or projects: reads a stream strictly in order from a position and gives it to the
 * handler batch by batch, one at a time. A failing handler or log is tried again for ever, with bounded delays.
 */
export function readLoop(options: ReadLoopOptions): ReadLoop {
  const state = {
    position: options.after,
    caughtUp: false,
    lastError: null as string | null,
    batches: 0,
    messages: 0,
    retries: 0,
  };
  return {
    name: options.name,
    state: () => ({ ...state }),
    lag: async () =>
      state.caughtUp ? 0 : Math.max(0, (await options.log.describe(options.stream)).lastSequence - state.position),
    ended: run(options, state),
  };
}

type Running = { -readonly [Member in keyof ReadLoopState]: ReadLoopState[Member] };

async function run(options: ReadLoopOptions, state: Running): Promise<ReadLoopEnd> {
  const { log, stream, filters, signal } = options;
  const setbacks = createSetbacks(options, state);
  while (!signal.aborted) {
    try {
      const batches = log.read({ stream, filters, after: state.position, batch: options.batch ?? READ_BATCH, signal });
      for await (const batch of batches) {
        const end = await handleUntilOk(options, batch, setbacks);
        if (end !== null) return end;
        advance(state, batch);
        setbacks.over();
      }
      // A reader ends by itself when the log closes; where that was not asked for it is tried again.
      if (!signal.aborted) await setbacks.wait('the log ended the reading');
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof StreamRecreated) return { ended: 'recreated', reason: error.message };
      await setbacks.wait(describeError(error));
    }
  }
  return { ended: 'aborted' };
}

function advance(state: Running, batch: ReadBatch): void {
  const last = batch.messages.at(-1);
  if (last !== undefined) {
    state.position = last.sequence;
    state.batches += 1;
    state.messages += batch.messages.length;
  }
  state.caughtUp = batch.caughtUp;
}

type Setbacks = ReturnType<typeof createSetbacks>;

/** `null` = handled; else how the loop ends. */
async function handleUntilOk(
  options: ReadLoopOptions,
  batch: ReadBatch,
  setbacks: Setbacks,
): Promise<ReadLoopEnd | null> {
  while (!options.signal.aborted) {
    const answer = await callHandler(options, batch);
    if (answer.answer === 'ok') return null;
    if (answer.answer === 'stop') return { ended: 'stopped', reason: answer.reason };
    await setbacks.wait(answer.reason, answer.afterMs);
  }
  return { ended: 'aborted' };
}

async function callHandler(options: ReadLoopOptions, batch: ReadBatch): Promise<Handled> {
  try {
    return await options.handle(batch);
  } catch (error) {
    options.logger?.error({ err: error, reader: options.name }, 'the handler broke; the batch is tried again');
    return handled.retry(describeError(error));
  }
}

/** Counts failures in a row and waits the longer the more there were. */
function createSetbacks(options: ReadLoopOptions, state: Running) {
  const { backoff = defaultBackoff, random = Math.random } = options;
  let inRow = 0;
  return {
    over() {
      inRow = 0;
      state.lastError = null;
    },
    async wait(reason: string, afterMs?: number) {
      inRow += 1;
      state.retries += 1;
      state.lastError = reason;
      state.caughtUp = false;
      const delay = Math.min(afterMs ?? backoffDelay(inRow, backoff, random()), backoff.longestMs);
      options.logger?.warn({ reader: options.name, position: state.position, reason, delay }, 'reading is held up');
      await (options.pause ?? pause)(delay, options.signal);
    },
  };
}
